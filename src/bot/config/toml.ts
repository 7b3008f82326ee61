// config.toml: its text → settings, or issues that show the line.

import { parse, TomlError } from "smol-toml";
import type * as v from "valibot";
import {
	type ConfigIssue,
	checkSettings,
	formatIssue,
	formatValue,
	holdsSecret,
	isPlaceholder,
	masked,
	namePlaceholders,
	type Parsed,
	sectionAt,
	sectionsWith,
	unknownKey,
} from "../../lib/config.ts";
import { describePlaceholder } from "./example.ts";

/** What stands in a file, whether or not it is what belongs there. */
export type TomlValues = Readonly<Record<string, unknown>>;

/**
 * Settings from TOML text, and what stands in it. An issue names its key, and shows its line with a caret. A value that
 * begins "your-" was never filled in, and counts as unset. `check` finds what a schema does not: it is given whatever
 * stands there, so that no issue hides another, and the names of the sections that are commented out.
 */
export function readToml<const S extends v.GenericSchema<unknown, unknown>>(
	schema: S,
	text: string,
	check: (
		values: TomlValues,
		off: ReadonlySet<string>,
	) => ConfigIssue[] = () => [],
): Parsed<v.InferOutput<S>> & { values: TomlValues } {
	let raw: TomlValues;
	try {
		// Ids without quotation marks are no numbers that a double can hold; what is wrong with them is said below.
		raw = parse(text, { integersAsBigInt: "asNeeded" });
	} catch (error) {
		if (!(error instanceof TomlError)) throw error;
		return {
			settings: undefined,
			issues: [describeSyntaxFault(text, error)],
			values: {},
		};
	}
	const values = withoutPlaceholders(raw) as TomlValues;
	const parsed = checkSettings(schema, values);
	const stray = strayKeys(schema, text);
	const isStray = ({ path }: ConfigIssue) =>
		stray.some((one) => isSame(one.path, path));
	const issues = [
		...stray,
		...namePlaceholders(
			parsed.issues
				.filter((issue) => !isStray(issue))
				.map((issue) => withSection(schema, issue)),
			raw,
			(...at) => describePlaceholder("config.toml", ...at),
		),
		...check(values, sectionsOff(text)),
	];
	if (issues.length === 0)
		return {
			settings: parsed.settings as v.InferOutput<S>,
			issues: [],
			values,
		};
	return {
		settings: undefined,
		values,
		issues: issues.map((issue) => {
			const shown = showPlace(text, issue.path);
			return shown ? `${formatIssue(issue)}\n${shown}` : formatIssue(issue);
		}),
	};
}

function withoutPlaceholders(value: unknown): unknown {
	if (typeof value !== "object" || value === null || value instanceof Date)
		return value;
	if (Array.isArray(value))
		return value.filter((one) => !isPlaceholder(one)).map(withoutPlaceholders);
	const kept = Object.entries(value).filter(([, one]) => !isPlaceholder(one));
	return Object.fromEntries(
		kept.map(([key, one]) => [key, withoutPlaceholders(one)]),
	);
}

/** The line of a key, with a caret under its value; undefined where it does not stand on a line of its own. */
function showPlace(text: string, path: readonly string[]): string | undefined {
	const place = findPlace(text, path);
	if (!place) return undefined;
	return showLine(place);
}

/** A line, with a caret under a column of it. What may be a secret in it is not shown. */
function showLine({ number, line, column }: Place): string {
	const margin = `    ${number}: `;
	const shown = holdsSecret(line)
		? `${line.slice(0, line.indexOf("=") + 1)} …`
		: line.slice(0, column) + masked(line.slice(column));
	return `${margin}${shown}\n${" ".repeat(margin.length)}${line.slice(0, column).replace(/[^\t]/g, " ")}^`;
}

/** The parser shows the lines around an issue, whatever stands in them; here it is the line itself. */
function describeSyntaxFault(text: string, error: TomlError): string {
	const [summary = ""] = error.message.split("\n");
	const line = text.split(/\r?\n/)[error.line - 1] ?? "";
	const column = error.column - 1;
	const known = explainValue(text, { number: error.line, line, column });
	if (known) return known;
	const place = { number: error.line, line, column };
	const advice = syntaxAdvice.find(([said]) => said.test(summary))?.[1];
	return `${masked(summary)}${advice ? `; ${advice}` : ""}\n${showLine(place)}`;
}

/** What to do about the parser's commonest findings, by its words. */
const syntaxAdvice: readonly [said: RegExp, advice: string][] = [
	[/already defined/, "it stands twice: keep one of the two"],
	[/expected comma/, "put a comma between the items of a list"],
	[
		/unfinished string|control characters are not allowed in strings/,
		"a text ends in its line: the quotation mark at its end is missing",
	],
	[
		/invalid value|unfinished array/,
		'a text stands between two quotation marks, a list between "[" and "]"',
	],
	[/escape/, 'within "…" write each backslash twice'],
	[/end-of-line/, "only a comment may follow a value"],
	[/\bkey\b/, "a line is one of these: key = value, [section], # comment"],
];

/** A value that is none in TOML, and how to write it; undefined where something else is wrong. */
function explainValue(text: string, place: Place): string | undefined {
	const { line, column } = place;
	const [whole = "", keys] = assignment.exec(line) ?? [];
	const value = line.slice(whole.length).replace(/\s+#.*$/, "");
	// One of several: what is around the place.
	const isWithin = keys === undefined || /^[[{]/.test(value);
	const start = isWithin
		? column - (/[^\s,[{]*$/.exec(line.slice(0, column))?.[0].length ?? 0)
		: whole.length;
	const [token = ""] = isWithin
		? (/^[^\s,\]}]*/.exec(line.slice(start)) ?? [])
		: [value];
	const isOther = /^'|["[\]{}=]/.test(token) || isValue(token);
	// What assigns nothing is one item of a list, or no value at all.
	const isItem = /^\s*[^\s[]\S*\s*$/.test(line);
	if (isOther || (keys === undefined && !isItem)) return undefined;
	const path =
		keys === undefined ? [] : [...tableAt(text, place), ...readKeys(keys)];
	const found = holdsSecret(line)
		? ""
		: `, received ${masked(token) || "nothing"}`;
	const issue = { path, message: `${valueAdvice(token, line)}${found}` };
	const said = keys === undefined ? issue.message : formatIssue(issue);
	return `${said}\n${showLine({ ...place, column: start })}`;
}

function isValue(token: string): boolean {
	try {
		parse(`value = ${token}`);
		return true;
	} catch {
		return false; // That it is none is all that is asked.
	}
}

/** How to write what stands there instead of a value. */
function valueAdvice(token: string, line: string): string {
	if (token === "" || token.startsWith("#"))
		return "expected a value behind =; what follows a # is a comment";
	if (/^[“”„‟‘’«»`]/.test(token))
		return 'expected straight quotation marks, such as "text"';
	if (/^(true|yes|on|false|no|off)$/i.test(token))
		return `expected true or false, in small letters: ${/^(true|yes|on)$/i.test(token) ? "true" : "false"}`;
	const quoted = holdsSecret(line) ? "" : `: ${formatValue(token)}`;
	return `expected a value that TOML knows; put a text in quotation marks${quoted}`;
}

interface Place {
	/** From 1. */
	number: number;
	line: string;
	/** Of the value, from 0. */
	column: number;
}

const keyPattern = String.raw`(?:[\w-]+|"[^"]*"|'[^']*')`;
const keysPattern = String.raw`${keyPattern}(?:\s*\.\s*${keyPattern})*`;
const header = new RegExp(String.raw`^\s*\[\[?\s*(${keysPattern})\s*\]`);
const assignment = new RegExp(String.raw`^\s*(${keysPattern})\s*=\s*`);

/** A header that is commented out. */
const headerOff = new RegExp(
	String.raw`^\s*#[#\s]*\[\s*(${keysPattern})\s*\]\s*(?:#.*)?$`,
);

interface Line extends Place {
	/** Of a header: its table. Of any other line: the one that it stands in. */
	table: readonly string[];
	/** The keys in front of "="; undefined where the line assigns nothing. */
	keys: readonly string[] | undefined;
	/** The table of the header above it that is commented out, where no other header stands between. */
	off: readonly string[] | undefined;
	isHeader: boolean;
}

/** The lines that begin a table or assign a value, and headers that are commented out, from the top. */
function* readLines(text: string): Generator<Line> {
	let table: readonly string[] = [];
	let off: readonly string[] | undefined;
	let inText = false;
	for (const [index, line] of text.split(/\r?\n/).entries()) {
		// Neither in a comment nor in a text of one line.
		const code = inText
			? line
			: line.replace(/"(?!"")(?:[^"\\]|\\.)*"|'(?!'')[^']*'|#.*$/g, "");
		const wasInText = inText;
		if ((code.match(/"""|'''/g)?.length ?? 0) % 2 === 1) inText = !inText;
		if (wasInText) continue;
		const number = index + 1;
		const [, offName] = headerOff.exec(line) ?? [];
		if (offName !== undefined) off = readKeys(offName);
		const [, name] = header.exec(line) ?? [];
		const [whole = "", found] = assignment.exec(line) ?? [];
		if (name !== undefined) {
			table = readKeys(name);
			off = undefined;
		}
		const isHeader = name !== undefined;
		const column = isHeader ? line.indexOf("[") : whole.length;
		const keys = found === undefined ? undefined : readKeys(found);
		yield { number, line, column, table, keys, off, isHeader };
	}
}

/** Where a key stands. Only for text that the parser has accepted. */
function findPlace(text: string, path: readonly string[]): Place | undefined {
	for (const line of readLines(text)) {
		const { table, keys, isHeader } = line;
		if (isHeader && isSame(table.slice(0, path.length), path)) return line;
		if (keys === undefined) continue;
		const at = [...table, ...keys];
		// A value may be a list or a table, with what is meant within it; and what is meant may be a table of the key's.
		const length = Math.min(at.length, path.length);
		if (isSame(at.slice(0, length), path.slice(0, length))) return line;
	}
	return undefined;
}

/** The table that a line stands in, also where the text as a whole is no TOML. */
function tableAt(text: string, { number }: Place): readonly string[] {
	for (const line of readLines(text))
		if (line.number === number) return line.table;
	return [];
}

/** The sections that are commented out, and stand nowhere else. */
function sectionsOff(text: string): ReadonlySet<string> {
	const off = new Set<string>();
	const on = new Set<string>();
	for (const line of readLines(text)) {
		if (line.off) off.add(line.off.join("."));
		if (line.isHeader) on.add(line.table.join("."));
	}
	return off.difference(on);
}

/** Keys that were switched on while the header above them was not: they stand in another section, or in none. */
function strayKeys(schema: object, text: string): ConfigIssue[] {
	return Array.from(readLines(text)).flatMap(({ table, keys, off }) => {
		const [key] = keys ?? [];
		if (key === undefined || !off) return [];
		const meant = sectionAt(schema, off);
		const isMeant = meant?.value ?? Object.hasOwn(meant?.entries ?? {}, key);
		const here = sectionAt(schema, table)?.entries ?? {};
		if (!isMeant || Object.hasOwn(here, key)) return [];
		const message = `belongs to [${off.join(".")}], which is still commented out: take away the "# " before that line, too`;
		return [{ path: [...table, ...(keys ?? [])], message }];
	});
}

/** The issue of an unknown key, with the one section that has such a key. */
function withSection(schema: object, issue: ConfigIssue): ConfigIssue {
	if (!issue.message.startsWith(unknownKey)) return issue;
	const key = issue.path.at(-1) ?? "";
	if (holdsSecret(key) && issue.message === unknownKey)
		return {
			...issue,
			message: `${unknownKey} here; secrets belong into .env`,
		};
	const [section, ...others] = sectionsWith(schema, key);
	if (section === undefined || others.length > 0) return issue;
	const where =
		section.length === 0 ? "the top of the file" : `[${section.join(".")}]`;
	return { ...issue, message: `${unknownKey} here; it belongs to ${where}` };
}

function readKeys(text: string): string[] {
	return Array.from(text.matchAll(new RegExp(keyPattern, "g")), ([key]) =>
		key.replace(/^["']|["']$/g, ""),
	);
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
	return a.length === b.length && a.every((key, index) => key === b[index]);
}
