// Argument schemas shared by tools.

import { SnowflakeUtil } from "discord.js";
import * as v from "valibot";
import type { Finder } from "../../../discord/find.ts";
import { lowestIdAt } from "../../../discord/ids.ts";
import { lengthOf, maxReasonLength } from "../../../discord/text.ts";
import { published, publishedAs, toJsonSchema } from "../../../mcp/json-schema.ts";
import { invalidParameters } from "../../../mcp/tool.ts";
import { readAnyTime } from "./times.ts";

/** Reason shown in Discord's audit log for tool calls without the argument `reason`. */
export const defaultReason = "via MCP";

/**
 * Returns a function that builds the error message of an invalid argument: what was expected, and the value received.
 */
export const expected = (what: string) => (issue: v.BaseIssue<unknown>) =>
	`expected ${what}, received ${JSON.stringify(issue.input)}`;

/** Schema of a tool argument that is a Discord id. `what` says what the id stands for, such as "channel". */
export function snowflake(what: string) {
	return v.pipe(
		v.string(),
		v.regex(/^\d{17,20}$/, expected("an id of 17 to 20 digits")),
		v.description(`The ${what}.`),
	);
}

/**
 * Schema of a tool argument with the id of a Discord object. Before the tool runs, `find` looks up the object. The tool
 * receives the id and the object: `channel_id` and `channel`.
 */
export function found<Thing>(find: Finder<Thing>, what: string) {
	return { ...snowflake(what), find };
}

/** Schema of an argument that is a Discord id or the empty string. */
export function snowflakeOrEmpty(description: string) {
	return v.pipe(
		v.string(),
		v.regex(/^(\d{17,20})?$/, expected("an id of 17 to 20 digits or nothing")),
		v.description(description),
	);
}

/**
 * Schema of a tool argument with the id of a Discord object, or "" for no object. Before the tool runs, `find` is
 * called with the argument's value. The tool receives the id and the result of `find`: `channel_id` and `channel`.
 */
export function foundOrNone<Thing>(find: Finder<Thing>, what: string) {
	return { ...snowflakeOrEmpty(`The ${what}, or "" for none.`), find };
}

/** Schema of a tool argument that is an array with `min` to `max` items. Removes duplicate items after the check. */
export function list<const Item extends v.GenericSchema>(item: Item, min: number, max: number, description: string) {
	return v.pipe(
		v.array(item),
		v.minLength(min, `expected at least ${min}`),
		v.maxLength(max, `expected at most ${max}`),
		v.transform((items) => [...new Set(items)]),
		v.description(description),
	);
}

/**
 * Schema of the optional argument `reason`, shown in the guild's audit log on Discord. Rejects text with lone
 * surrogates, which cannot be URL-encoded.
 */
export const reason = v.optional(
	v.pipe(
		v.string(),
		v.check(
			(input) => input.isWellFormed() && lengthOf(input) <= maxReasonLength,
			"expected text of at most 512 characters",
		),
		v.transform((input) => input.trim()),
		v.description("For the audit log."),
	),
);

/** Schema of the optional argument `tell` of actions that are done to people. */
export const tell = v.optional(flag("DM them."));

/** A point in time: in milliseconds, and as Discord ids, which contain a creation time. */
export interface Moment {
	/** The lowest Discord id that an object created at or after the point in time can have. */
	first: string;
	/**
	 * The highest Discord id that an object created before the point in time can have; for a point in time given as a
	 * Discord id, that id itself.
	 */
	lastBefore: string;
	/** The point in time in epoch milliseconds. */
	atMs: number;
}

export const timeExamples =
	"a duration such as 6h, a date such as 2026-01-31, a time such as 2026-01-31T12:00:00Z, or an id";
/** JSON Schema pattern that checks the start of an argument for a point in time. */
export const timeStart = "now$|(in |[+-])?\\d{1,9} ?[smhdwySMHDWY]|\\d{17,20}$|\\d{4}-\\d\\d-\\d\\d";

/**
 * Schema of an argument for a point in time in the past: a duration before now such as "6h", a date, a time, or a
 * Discord id, which stands for its creation time. `what` is the start of the argument's description.
 */
export function moment(what: string) {
	return v.pipe(
		v.string(),
		v.check((input) => readMoment(input) !== undefined, expected(timeExamples)),
		v.transform((input) => readMoment(input) as Moment),
		published({ pattern: `^(${timeStart})` }),
		v.description(`${what}: 6h (ago), date, time or id.`),
	);
}

function readMoment(text: string): Moment | undefined {
	if (isId(text))
		return {
			first: text,
			lastBefore: text,
			atMs: SnowflakeUtil.timestampFrom(text),
		};
	const atMs = readAnyTime(text, -1);
	if (atMs === undefined) return undefined;
	const first = lowestIdAt(atMs);
	if (first < 1n) return undefined;
	return { first: String(first), lastBefore: String(first - 1n), atMs };
}

function isId(text: string): boolean {
	return /^\d{17,20}$/.test(text);
}

/**
 * Schema of an argument for a point in time: a duration from now such as "6h", a date, a time, or a Discord id, which
 * stands for its creation time. Converted to ISO 8601 in UTC with milliseconds. If `orNone` is true, "" is valid.
 * `what` is the start of the argument's description.
 */
export function instant(what: string, orNone = false) {
	const read = (text: string) => {
		if (orNone && text === "") return text;
		const at = isId(text) ? SnowflakeUtil.timestampFrom(text) : readAnyTime(text, 1);
		return at === undefined ? undefined : new Date(at).toISOString();
	};
	return v.pipe(
		v.string(),
		v.check((input) => read(input) !== undefined, expected(timeExamples + (orNone ? ', or "" for none' : ""))),
		v.transform((input) => read(input) ?? ""),
		published({ pattern: `^(${orNone ? "$|" : ""}${timeStart})` }),
		v.description(`${what}: 6h (from now), date or time${orNone ? ', "" for none' : ""}.`),
	);
}

/** Schema of a tool argument that is an integer from `min` to `max`, inclusive. */
export function integer(min: number, max: number, description: string) {
	const message = `expected an integer from ${min} to ${max}`;
	return v.pipe(
		v.number(),
		v.integer(message),
		v.minValue(min, message),
		v.maxValue(max, message),
		v.description(description),
	);
}

export function flag(description: string) {
	return v.pipe(v.boolean(), v.description(description));
}

export function choice<const Option extends string>(options: readonly Option[], description: string) {
	return v.pipe(v.picklist(options), v.description(description));
}

/** Schema of an argument that must be one of `options`, which are lower case. Upper case is accepted, too. */
export function choiceInAnyCase<const Option extends string>(options: readonly Option[], description: string) {
	return v.pipe(
		v.string(),
		v.transform((input) => input.toLowerCase()),
		v.picklist(options),
		v.description(description),
	);
}

/**
 * Schema of an argument with Discord permissions: names such as VIEW_CHANNEL, and bit fields as decimal strings, in a
 * list or in one text. See `readPermissions`.
 */
export function permissionList(description: string) {
	return v.pipe(
		v.union([v.array(v.string()), v.string()]),
		v.transform((given) => (typeof given === "string" ? given.split(/[\s,|]+/).filter(Boolean) : given)),
		publishedAs({ type: "array", items: { type: "string" }, description }),
	);
}

/** Schema of an object that a call may also give as a text alone: its field `field`. */
export function orText<const Schema extends v.GenericSchema>(schema: Schema, field: string) {
	return v.pipe(
		v.unknown(),
		v.transform((given) => (typeof given === "string" ? { [field]: given } : given)),
		schema as Schema & v.GenericSchema<unknown>,
		publishedAs(toJsonSchema(schema)),
	);
}

/**
 * Schema of the optional argument `guild_id`. If a call omits it or passes "", the tool uses the guild of the setting
 * GUILD_ID.
 */
export const guild_id = v.optional(
	v.pipe(
		v.string(),
		v.check((input) => /^(\d{17,20})?$/.test(input), expected("an id of 17 to 20 digits")),
		v.description("Default: the bot's."),
	),
);

/**
 * Schema of an optional argument for the maximum number of results. Values are clamped to an integer from 1 to `max`,
 * not rejected.
 */
export function limit(max: number, defaultLimit: number, description = "How many at most.") {
	return v.optional(
		v.pipe(
			v.number(),
			v.transform((value) => Math.trunc(Math.min(Math.max(value, 1), max))),
			published({ type: "integer", minimum: 1, maximum: max }),
			v.description(description),
		),
		defaultLimit,
	);
}

/** Schema of a text argument of `min` to `max` characters (Unicode code points). */
export function text(min: number, max: number, description: string) {
	return v.pipe(
		v.string(),
		v.check(
			(input) => lengthOf(input) >= min && lengthOf(input) <= max,
			({ input }) => `expected ${min} to ${max} characters, received ${lengthOf(input)}`,
		),
		published({ ...(min > 0 && { minLength: min }), maxLength: max }),
		v.description(description),
	);
}

/**
 * Throws an RpcError unless a tool call has at least one of the arguments `names`. `hint` is appended to the error
 * message.
 */
export function requireOneOf<Name extends string>(
	args: { readonly [Key in Name]?: unknown },
	names: readonly Name[],
	hint = "",
): void {
	if (names.every((name) => args[name] === undefined))
		throw invalidParameters([`${names.join(", ")}: expected at least one of these${hint}`]);
}

/** Throws an RpcError unless a tool call has exactly one of the two arguments `names`. */
export function requireEither<Name extends string>(
	args: { readonly [Key in Name]?: unknown },
	names: readonly [Name, Name],
	expected = "exactly one of the two",
): void {
	const [one, other] = names;
	if ((args[one] === undefined) === (args[other] === undefined))
		throw invalidParameters([`${names.join(", ")}: expected ${expected}`]);
}
