// Parses config.toml to settings, or to issues that show the line.

import { parse, TomlError } from "smol-toml";
import type * as v from "valibot";
import {
	type ConfigIssue,
	checkSettings,
	formatIssue,
	holdsSecret,
	isPlaceholder,
	masked,
	namePlaceholders,
	type Parsed,
	sectionsWith,
	unknownKey,
} from "../../lib/config.ts";
import { describePlaceholder } from "./example.ts";

/** Not yet validated. */
export type TomlValues = Readonly<Record<string, unknown>>;

/** Errors show the line. Values from "your-" are placeholders and count as unset. `check`: further errors. */
export function readToml<const S extends v.GenericSchema<unknown, unknown>>(
	schema: S,
	text: string,
	check: (values: TomlValues) => ConfigIssue[] = () => [],
): Parsed<v.InferOutput<S>> & { values: TomlValues } {
	let raw: TomlValues;
	try {
		// Unquoted ids exceed a double; they are reported below.
		raw = parse(text, { integersAsBigInt: "asNeeded" });
	} catch (error) {
		if (!(error instanceof TomlError)) throw error;
		const issues = [describeSyntaxError(text, error)];
		return { settings: undefined, issues, values: {} };
	}
	const values = withoutPlaceholders(raw) as TomlValues;
	const parsed = checkSettings(schema, values);
	const issues = [
		...namePlaceholders(
			parsed.issues.map((issue) => withSection(schema, issue)),
			raw,
			(...at) => describePlaceholder("config.toml", ...at),
		),
		...check(values),
	];
	if (issues.length === 0) {
		const settings = parsed.settings as v.InferOutput<S>;
		return { settings, issues: [], values };
	}
	return {
		settings: undefined,
		values,
		issues: issues.map((issue) => {
			const place = findPlace(text, issue.path);
			return formatIssue(issue) + (place ? `\n${showLine(place)}` : "");
		}),
	};
}

/** Without values such as "your-token", at any depth. */
export function withoutPlaceholders(value: unknown): unknown {
	if (typeof value !== "object" || value === null || value instanceof Date) return value;
	if (Array.isArray(value)) return value.filter((one) => !isPlaceholder(one)).map(withoutPlaceholders);
	const kept = Object.entries(value).filter(([, one]) => !isPlaceholder(one));
	return Object.fromEntries(kept.map(([key, one]) => [key, withoutPlaceholders(one)]));
}

function showLine({ number, line, column }: Place): string {
	const margin = `    ${number}: `;
	const shown = holdsSecret(line)
		? `${line.slice(0, line.indexOf("=") + 1)} …`
		: line.slice(0, column) + masked(line.slice(column));
	return `${margin}${shown}\n${" ".repeat(margin.length)}${line.slice(0, column).replace(/[^\t]/g, " ")}^`;
}

// The parser's own excerpt may show secrets.
function describeSyntaxError(text: string, error: TomlError): string {
	const [summary = ""] = error.message.split("\n");
	const line = text.split(/\r?\n/)[error.line - 1] ?? "";
	const place = { number: error.line, line, column: error.column - 1 };
	const advice = syntaxAdvice.find(([said]) => said.test(summary))?.[1];
	return `${masked(summary)}${advice ? `; ${advice}` : ""}\n${showLine(place)}`;
}

const syntaxAdvice: readonly [said: RegExp, advice: string][] = [
	[/already defined/, "duplicate key: keep one of the two"],
	[/expected comma/, "put a comma between the items of a list"],
	[
		/unfinished string|control characters are not allowed in strings/,
		"put a quotation mark at the end of the text, in the line in which the text begins",
	],
	[/invalid value|unfinished array/, 'put a text between two quotation marks, and a list between "[" and "]"'],
	[/escape/, 'within "…" write each backslash twice'],
	[/end-of-line/, "only a comment may follow a value"],
	[/\bkey\b/, "a line is one of these: key = value, [section], # comment"],
];

interface Place {
	number: number;
	line: string;
	column: number;
}

const keyPattern = String.raw`(?:[\w-]+|"[^"]*"|'[^']*')`;
const keysPattern = String.raw`${keyPattern}(?:\s*\.\s*${keyPattern})*`;
const header = new RegExp(String.raw`^\s*\[\[?\s*(${keysPattern})\s*\]`);
const assignment = new RegExp(String.raw`^\s*(${keysPattern})\s*=\s*`);

interface Line extends Place {
	table: readonly string[];
	keys: readonly string[] | undefined;
	isHeader: boolean;
}

function* readLines(text: string): Generator<Line> {
	let table: readonly string[] = [];
	let inText = false;
	for (const [index, line] of text.split(/\r?\n/).entries()) {
		// Ignore comments and single-line strings.
		const code = inText ? line : line.replace(/"(?!"")(?:[^"\\]|\\.)*"|'(?!'')[^']*'|#.*$/g, "");
		const wasInText = inText;
		if ((code.match(/"""|'''/g)?.length ?? 0) % 2 === 1) inText = !inText;
		if (wasInText) continue;
		const number = index + 1;
		const [, name] = header.exec(line) ?? [];
		const [whole = "", found] = assignment.exec(line) ?? [];
		if (name !== undefined) table = readKeys(name);
		const isHeader = name !== undefined;
		const column = isHeader ? line.indexOf("[") : whole.length;
		const keys = found === undefined ? undefined : readKeys(found);
		yield { number, line, column, table, keys, isHeader };
	}
}

function findPlace(text: string, path: readonly string[]): Place | undefined {
	for (const line of readLines(text)) {
		const { table, keys, isHeader } = line;
		if (isHeader && isSame(table.slice(0, path.length), path)) return line;
		if (keys === undefined) continue;
		const at = [...table, ...keys];
		// The path may point into a list or table value, or to a table below the key.
		const length = Math.min(at.length, path.length);
		if (isSame(at.slice(0, length), path.slice(0, length))) return line;
	}
	return undefined;
}

function withSection(schema: object, issue: ConfigIssue): ConfigIssue {
	if (!issue.message.startsWith(unknownKey)) return issue;
	const key = issue.path.at(-1) ?? "";
	if (holdsSecret(key) && issue.message === unknownKey)
		return { ...issue, message: `${unknownKey} here; secrets belong into .env` };
	const [section, ...others] = sectionsWith(schema, key);
	if (section === undefined || others.length > 0) return issue;
	const where = section.length === 0 ? "the top of the file" : `[${section.join(".")}]`;
	return { ...issue, message: `${unknownKey} here; it belongs to ${where}` };
}

function readKeys(text: string): string[] {
	return Array.from(text.matchAll(new RegExp(keyPattern, "g")), ([key]) => key.replace(/^["']|["']$/g, ""));
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
	return a.length === b.length && a.every((key, index) => key === b[index]);
}
