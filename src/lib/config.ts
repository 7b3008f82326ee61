// Reading what an operator wrote: every fault at once, and no secret in any of them.

import * as v from "valibot";

/** What the operator has to mend before the program can start. */
export class ConfigError extends Error {
	override name = "ConfigError";

	/** `source` is where the faults are: a file, or "the environment". */
	constructor(
		readonly source: string,
		readonly faults: readonly string[],
	) {
		const count = faults.length === 1 ? "1 fault" : `${faults.length} faults`;
		super(
			`${source} has ${count}:\n${faults.map((fault) => `  ${fault}`).join("\n")}`,
		);
	}
}

/** The result of one parse: settings, or the faults that stand in their way. */
export type Parsed<T> =
	| { settings: T; faults: [] }
	| { settings: undefined; faults: string[] };

/**
 * Settings from `values`, checked by `schema`. A fault names its key and says what is wrong, never the value:
 * it may be a secret. A check that may show the value does so in its own message.
 */
export function parseSettings<
	const S extends v.GenericSchema<unknown, unknown>,
>(schema: S, values: unknown): Parsed<v.InferOutput<S>> {
	const result = v.safeParse(schema, values);
	const unknown = unknownKeys(schema, values);
	if (result.success && unknown.length === 0)
		return { settings: result.output, faults: [] };
	const issues = result.issues ?? [];
	const faults = [
		...issues.filter((issue) => !isUnknownKey(issue)).map(describeIssue),
		...unknown.map((key) => `${key}: is not a known key`),
	];
	return { settings: undefined, faults };
}

/** Whether Valibot found a key that a strict object does not have. A missing key is an issue of the object's, too. */
export function isUnknownKey(issue: v.BaseIssue<unknown>): boolean {
	return (
		issue.kind === "schema" &&
		issue.type === "strict_object" &&
		issue.expected === "never" &&
		issue.path?.length === 1
	);
}

/**
 * The keys of `values` that a strict object does not have: all of them. Valibot stops at the first, and takes what every
 * object inherits, such as toString, for known.
 */
export function unknownKeys(schema: object, values: unknown): string[] {
	const { type, entries } = schema as { type?: string; entries?: object };
	if (type !== "strict_object" || !entries) return [];
	return Object.keys(Object(values)).filter(
		(key) => !Object.hasOwn(entries, key),
	);
}

function describeIssue(issue: v.BaseIssue<unknown>): string {
	const key = v.getDotPath(issue) ?? "it";
	if (issue.kind !== "schema") return `${key}: ${issue.message}`;
	if (issue.received === "undefined") return `${key}: is required`;
	return `${key}: expected ${issue.expected}`;
}

/**
 * Environment variables as settings: white space around a value is dropped, and an empty one counts as unset.
 */
export function trimEnv(
	env: Record<string, string | undefined>,
): Record<string, string> {
	return Object.fromEntries(
		Object.entries(env)
			.map(([name, value]) => [name, value?.trim()] as const)
			.filter((entry): entry is [string, string] => Boolean(entry[1])),
	);
}

/** A whole number in `[min, max]`, written in decimal. */
export function integer(min: number, max: number) {
	const message = `expected a whole number from ${min} to ${max}`;
	return v.pipe(
		v.string(),
		v.regex(
			/^\d{1,15}$/,
			({ input }) => `${message}, received ${JSON.stringify(input)}`,
		),
		v.transform(Number),
		v.minValue(min, ({ input }) => `${message}, received ${input}`),
		v.maxValue(max, ({ input }) => `${message}, received ${input}`),
	);
}

/** A TCP port to listen on; 0 asks the system for a free one. */
export const port = integer(0, 65_535);

/** Names separated by commas, in lower case, each of which `isName` knows for one. `what` says what they are. */
function nameList(isName: (name: string) => boolean, what: string) {
	return v.pipe(
		v.string(),
		v.transform((text) =>
			text.split(",").map((name) => name.trim().toLowerCase()),
		),
		v.check(
			(names) => names.every(isName),
			({ input }) =>
				`expected ${what}, separated by commas, received ${JSON.stringify(input.find((name) => !isName(name)))}`,
		),
	);
}

/** Host names or addresses, without ports. */
export const hostList = nameList(
	(name) => /^(\[[0-9a-f:.]+\]|[\w.-]+)$/.test(name),
	'host names without ports, such as "bot.example"',
);

/** Origins of web pages, as browsers send them. */
export const originList = nameList(
	(name) => URL.parse(name)?.origin === name && /^https?:/.test(name),
	'origins such as "https://chat.example"',
);

/** An http or https URL without credentials, query or fragment, and without a slash at its end. */
export const baseUrl = v.pipe(
	v.string(),
	v.rawTransform(({ dataset, addIssue, NEVER }) => {
		const fault = baseUrlFault(dataset.value);
		if (fault === undefined) return dataset.value.replace(/\/+$/, "");
		addIssue({ message: fault });
		return NEVER;
	}),
);

/** What is wrong with `text` as a base URL; undefined when nothing is. The text itself is not shown when it holds credentials. */
export function baseUrlFault(text: string): string | undefined {
	const url = URL.parse(text);
	// Also where it is no URL: what stands before the @ may be a password.
	if (text.includes("@"))
		return "expected a URL without a user name and password";
	const shown = JSON.stringify(text);
	if (!url || !/^https?:\/\//i.test(text))
		return `expected a URL that begins http:// or https://, received ${shown}`;
	if (url.search || url.hash || text.includes("?") || text.includes("#"))
		return `expected a URL without ? and #, received ${shown}`;
	return undefined;
}
