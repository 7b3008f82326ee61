// Reads settings with Valibot: reports all issues at once, and no issue shows a secret.

import * as v from "valibot";
import { escapeInJson } from "./text.ts";

/** The configuration is invalid; the message lists all issues. */
export class ConfigError extends Error {
	override name = "ConfigError";

	/** `source`: such as a file name. `issues`: one line for each problem. */
	constructor(
		readonly source: string,
		readonly issues: readonly string[],
	) {
		const count = issues.length === 1 ? "1 error" : `${issues.length} errors`;
		super(`${source} has ${count}:\n${issues.map((issue) => `  ${issue}`).join("\n")}`);
	}
}

export interface ConfigIssue {
	path: readonly string[];
	message: string;
	/** Of an unknown key: those that the schema allows. */
	known?: readonly string[];
}

export type Parsed<T, F = string> = { settings: T; issues: [] } | { settings: undefined; issues: F[] };

/** The issues are lines that begin with the key; they show no secrets. */
export function parseSettings<const S extends v.GenericSchema<unknown, unknown>>(
	schema: S,
	values: unknown,
): Parsed<v.InferOutput<S>> {
	const { settings, issues } = checkSettings(schema, values);
	return issues.length === 0
		? { settings: settings as v.InferOutput<S>, issues: [] }
		: { settings: undefined, issues: issues.map(formatIssue) };
}

/** The search for similar known keys takes long, so error messages suggest them for so many unknown keys only. */
const maxSuggestions = 50;

/** The issues do not show values that may be secrets. */
export function checkSettings<const S extends v.GenericSchema<unknown, unknown>>(
	schema: S,
	values: unknown,
): Parsed<v.InferOutput<S>, ConfigIssue> {
	// Removes the messages of Valibot itself; those of our own schemas stay.
	const result = v.safeParse(schema, values, { message: () => "" });
	const unknown = unknownKeys(schema, values);
	if (result.success && unknown.length === 0) return { settings: result.output, issues: [] };
	const issues = [
		...otherIssues(result.issues ?? [], unknown).map((issue) => {
			const path = (issue.path ?? []).map(({ key }) => String(key));
			return { path, message: describeIssue(issue, path.at(-1) ?? "") };
		}),
		...unknown.map(({ path, known }, index) => ({
			path,
			known,
			message: `${unknownKey}${index < maxSuggestions ? didYouMean(path.at(-1) ?? "", known) : ""}`,
		})),
	];
	return { settings: undefined, issues };
}

export function formatIssue({ path, message }: ConfigIssue): string {
	return `${path.join(".") || "the value"}: ${message}`;
}

export const unknownKey = "is not a known key";

export function otherIssues(
	issues: readonly v.BaseIssue<unknown>[],
	unknown: readonly UnknownKey[],
): v.BaseIssue<unknown>[] {
	const paths = new Set(unknown.map(({ path }) => path.join(".")));
	return issues.filter((issue) => !paths.has(v.getDotPath(issue) ?? ""));
}

/** A key, and the keys that the schema allows instead. */
export interface UnknownKey {
	path: readonly string[];
	known: readonly string[];
}

/** All unknown keys of strict objects, at any depth; Valibot itself reports only the first. */
export function unknownKeys(schema: object, values: unknown, path: readonly string[] = []): UnknownKey[] {
	const { type, entries, wrapped, item, value } = schema as SchemaParts;
	if (wrapped) return unknownKeys(wrapped, values, path);
	// A value of the wrong type is reported as another issue.
	if (item && Array.isArray(values))
		return values.flatMap((value, index) => unknownKeys(item, value, [...path, String(index)]));
	if (typeof values !== "object" || values === null) return [];
	if (type === "record" && value)
		return Object.entries(values).flatMap(([key, one]) => unknownKeys(value, one, [...path, key]));
	if (!entries) return [];
	const known = Object.keys(entries);
	return Object.entries(values).flatMap(([key, value]) => {
		const at = [...path, key];
		const entry = Object.hasOwn(entries, key) ? entries[key] : undefined;
		if (entry) return unknownKeys(entry, value, at);
		return type === "strict_object" ? [{ path: at, known }] : [];
	});
}

interface SchemaParts {
	type?: string;
	entries?: Record<string, object>;
	wrapped?: object;
	item?: object;
	value?: object;
}

/** Paths of all sections that define `key`, except sections whose names operators choose, such as AI providers. */
export function sectionsWith(schema: object, key: string, path: readonly string[] = []): (readonly string[])[] {
	const { wrapped, entries = {} } = schema as SchemaParts;
	if (wrapped) return sectionsWith(wrapped, key, path);
	return [
		...(Object.hasOwn(entries, key) ? [path] : []),
		...Object.entries(entries).flatMap(([name, entry]) => sectionsWith(entry, key, [...path, name])),
	];
}

function describeIssue(issue: v.BaseIssue<unknown>, key: string): string {
	if (issue.message !== "") return issue.message;
	if (issue.received === "undefined") return "is required";
	const given = issue.expected ?? "";
	const expected = `expected ${Object.hasOwn(kinds, given) ? kinds[given] : given}`;
	return holdsSecret(key) ? expected : `${expected}, received ${masked(issue.received)}${nextStep(issue, given)}`;
}

const kinds: Record<string, string> = {
	string: "text",
	boolean: "true or false",
	number: "a number",
	Array: "a list",
	Object: "a section",
};

function nextStep({ input }: v.BaseIssue<unknown>, expected: string): string {
	if (typeof input !== "string") {
		if (!["number", "bigint", "boolean"].includes(typeof input) || expected !== "string") return "";
		return `; put it in quotation marks: ${formatValue(String(input))}`;
	}
	if (expected === "Array") return `; put it in brackets: [${formatValue(input)}]`;
	const isBare =
		expected === "boolean" ? /^(true|false)$/.test(input) : expected === "number" && /^-?\d+(\.\d+)?$/.test(input);
	if (isBare) return "; leave out the quotation marks";
	const words = Array.from(expected.matchAll(/"([^"]+)"/g), ([, word]) => word);
	return didYouMean(
		input,
		words.filter((word) => word !== undefined),
	);
}

/** Whether the value is a placeholder of the example configuration, such as "your-bot-token". */
export function isPlaceholder(value: unknown): value is string {
	return typeof value === "string" && value.startsWith("your-");
}

/** Appends to issues about placeholders of the example configuration "is still" and the text of `describe`. */
export function namePlaceholders(
	issues: readonly ConfigIssue[],
	values: unknown,
	describe: (path: readonly string[], placeholder: string) => string,
): ConfigIssue[] {
	return issues.map(({ path, message }) => {
		const value = path.reduce<unknown>((within, key) => (Object(within) as Record<string, unknown>)[key], values);
		const placeholder = placeholderIn(value);
		if (placeholder === undefined) return { path, message };
		const rest = message === "is required" ? "" : `${message}; `;
		return { path, message: `${rest}is still ${describe(path, placeholder)}` };
	});
}

function placeholderIn(value: unknown): string | undefined {
	if (isPlaceholder(value)) return value;
	if (typeof value !== "object" || value === null) return undefined;
	return Object.values(value)
		.map(placeholderIn)
		.find((found) => found !== undefined);
}

/** By its name, such as one with "token" or "password". */
export function holdsSecret(key: string): boolean {
	return /token(?!s)|secret|password|api_key|_key$|database_url/i.test(key);
}

/** Replaces words of 24 or more characters, which may be secrets, by their length, such as "[32 characters]". */
export function masked(text: string): string {
	return text.replace(/[^\s"'=]{24,}/g, (word) => `[${word.length} characters]`);
}

/** JSON for error messages: long words, which may be secrets, are masked; invisible characters are escaped. */
export function formatValue(value: unknown): string {
	return masked(escapeInJson(JSON.stringify(value) ?? "nothing"));
}

/** "; did you mean …?" with the most similar entry of `known`; "" if none is similar. */
export function didYouMean(word: string, known: readonly string[]): string {
	const [near] = similar(word, known);
	return near === undefined ? "" : `; did you mean ${near}?`;
}

/** The most similar first. */
export function similar(word: string, known: readonly string[]): readonly string[] {
	const most = (candidate: string) => Math.ceil(Math.max(word.length, candidate.length) / 3);
	return known
		.filter((candidate) => Math.abs(word.length - candidate.length) <= most(candidate))
		.map((candidate) => ({ candidate, distance: distance(word, candidate) }))
		.filter(({ candidate, distance }) => distance <= most(candidate))
		.toSorted((a, b) => a.distance - b.distance)
		.map(({ candidate }) => candidate);
}

/** Adds to issues about missing variables a variable with a similar name that is set, perhaps a misspelling. */
export function nameNearMisses(
	issues: readonly ConfigIssue[],
	env: Readonly<Record<string, string>>,
	known: readonly string[],
): ConfigIssue[] {
	const unread = Object.keys(env).filter((name) => !known.includes(name));
	return issues.map((issue) => {
		const [near] = issue.message === "is required" ? similar(issue.path.join(), unread) : [];
		if (!near) return issue;
		return { ...issue, message: `${issue.message}; ${near} is set: is it meant to be this one?` };
	});
}

function distance(a: string, b: string): number {
	let row = Array.from({ length: b.length + 1 }, (_, index) => index);
	for (const [i, letter] of [...a.toLowerCase()].entries()) {
		const next = [i + 1];
		for (const [j, other] of [...b.toLowerCase()].entries())
			next.push(Math.min((next[j] ?? 0) + 1, (row[j + 1] ?? 0) + 1, (row[j] ?? 0) + (letter === other ? 0 : 1)));
		row = next;
	}
	return row.at(-1) ?? 0;
}

/** The variables that are not empty, trimmed. */
export function trimEnv(env: Record<string, string | undefined>): Record<string, string> {
	return Object.fromEntries(
		Object.entries(env)
			.map(([name, value]) => [name, value?.trim()] as const)
			.filter((entry): entry is [string, string] => Boolean(entry[1])),
	);
}

/** Schema of an optional variable, with its description for `--help` and its default. */
export function optional<
	const S extends v.GenericSchema<string, unknown>,
	const D extends string | undefined = undefined,
>(schema: S, description: string, fallback?: D) {
	return v.pipe(v.optional(schema, fallback as D), v.description(description));
}

/** Password or token that fits in an HTTP header; error messages do not show the value. */
export const secret = v.pipe(
	v.string(),
	v.regex(/^[\x21-\x7e]+$/, ({ input }) => {
		const [prefix] = /^(?:(Bot|Bearer) |[“”‘’„«»])/i.exec(input) ?? [];
		const next = prefix ? `; leave out ${formatValue(prefix)} at its beginning` : "";
		return `expected visible ASCII without spaces${next}`;
	}),
);

export function integer(min: number, max: number) {
	const message = `expected a whole number from ${min} to ${max}`;
	return v.pipe(
		v.string(),
		v.regex(/^\d{1,15}$/, ({ input }) => `${message}, received ${formatValue(input)}`),
		v.transform(Number),
		v.minValue(min, ({ input }) => `${message}, received ${input}`),
		v.maxValue(max, ({ input }) => `${message}, received ${input}`),
	);
}

/** TCP port; 0 takes any free one. */
export const port = integer(0, 65_535);

function nameList(isName: (name: string) => boolean, expected: string) {
	return v.pipe(
		v.string(),
		v.transform((text) => text.split(",").map((name) => name.trim().toLowerCase())),
		v.check(
			(names) => names.every(isName),
			({ input }) =>
				`expected ${expected}, separated by commas, received ${formatValue(input.find((name) => !isName(name)))}`,
		),
	);
}

/** Comma-separated host names or IP addresses, without ports. */
export const hostList = nameList(
	(name) => /^(\[[0-9a-f:.]+\]|[\w.-]+)$/.test(name),
	'host names without ports, such as "bot.example"',
);

/** Comma-separated origins, as browsers send them in the Origin header. */
export const originList = nameList(
	(name) => URL.parse(name)?.origin === name && /^https?:/.test(name),
	'origins such as "https://chat.example"',
);

/** A text that is invalid if `issueOf` returns a message. */
export function checkedText(issueOf: (text: string) => string | undefined) {
	return readText(issueOf, (text) => text);
}

/** A text that `read` converts, invalid if `issueOf` returns a message. */
export function readText<T>(issueOf: (text: string) => string | undefined, read: (text: string) => T) {
	return v.pipe(
		v.string(),
		v.rawTransform<string, T>(({ dataset, addIssue, NEVER }) => {
			const message = issueOf(dataset.value);
			if (message === undefined) return read(dataset.value);
			addIssue({ message });
			return NEVER;
		}),
	);
}

/** http or https URL without credentials, query and fragment; trailing slashes are removed. */
export const baseUrl = readText(baseUrlIssue, (text) => text.replace(/\/+$/, ""));

/** Why `text` is no valid `baseUrl`; undefined if it is. Shows no credentials. */
export function baseUrlIssue(text: string): string | undefined {
	const url = URL.parse(text);
	// Even in an invalid URL, the part before the @ may be a password.
	if (text.includes("@")) return "expected a URL without a user name and password";
	if (/\s/.test(text)) return `expected a URL without blanks, received ${formatValue(text)}`;
	if (!url || !/^https?:\/\//i.test(text))
		return `expected a URL that begins with http:// or https://, received ${formatValue(text)}`;
	if (url.search || url.hash || text.includes("?") || text.includes("#"))
		return `expected a URL without ? and #, received ${formatValue(text)}`;
	return undefined;
}

/** The message of a valibot check. */
export const expected = (what: string) => (issue: v.BaseIssue<unknown>) =>
	`expected ${what}, received ${formatValue(issue.input)}`;

/** Not empty. */
export function text(max: number) {
	return v.pipe(
		v.string(),
		v.minLength(1, "expected at least 1 character"),
		v.maxLength(max, `expected at most ${max} characters`),
	);
}

/** A number, not a text that holds one. */
export function whole(min: number, max: number) {
	return v.pipe(
		v.number(),
		v.check(
			(input) => Number.isInteger(input) && input >= min && input <= max,
			({ input }) => `expected a whole number from ${min} to ${max}, received ${input}`,
		),
		v.metadata({ jsonSchema: { type: "integer", minimum: min, maximum: max } }),
	);
}
