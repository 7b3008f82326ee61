// Argument schemas shared by tools.

import * as v from "valibot";
import { published } from "../../mcp/json-schema.ts";
import type { Finder } from "../discord/find.ts";
import { lowestIdAt } from "../discord/ids.ts";
import { encodedLength, maxReasonLength } from "../discord/text.ts";

/** Audit log reason of calls without one. */
export const defaultReason = "via MCP";

/** An id of Discord's. `what` completes "Id of the …". */
export function snowflake(what: string) {
	return v.pipe(
		v.string(),
		v.regex(
			/^\d{17,20}$/,
			({ input }) =>
				`expected an id of 17 to 20 digits, received ${JSON.stringify(input)}`,
		),
		v.description(`Id of the ${what}.`),
	);
}

/** An id that the pipeline resolves: `channel_id` becomes `channel` in the tool's context. */
export function found<Thing>(find: Finder<Thing>, what: string) {
	return { ...snowflake(what), find };
}

/** An id or the empty string. */
export function snowflakeOrEmpty(description: string) {
	return v.pipe(
		v.string(),
		v.regex(
			/^(\d{17,20})?$/,
			({ input }) =>
				`expected an id of 17 to 20 digits or nothing, received ${JSON.stringify(input)}`,
		),
		v.description(description),
	);
}

/** An id that the pipeline resolves, or "" for none. `find` must accept the empty id. */
export function foundOrNone<Thing>(find: Finder<Thing>, what: string) {
	return { ...snowflakeOrEmpty(`Id of the ${what}, or "" for none.`), find };
}

/** A list of `min` to `max` items. Duplicates are removed. */
export function list<const Item extends v.GenericSchema>(
	item: Item,
	min: number,
	max: number,
	description: string,
) {
	return v.pipe(
		v.array(item),
		v.minLength(min, `expected at least ${min}`),
		v.maxLength(max, `expected at most ${max}`),
		v.transform((items) => [...new Set(items)]),
		v.description(description),
	);
}

/** The reason for the guild's audit log. Discord limits it to 512 characters after URL encoding. */
export const reason = v.optional(
	v.pipe(
		v.string(),
		v.check(
			(input) =>
				input.isWellFormed() && encodedLength(input) <= maxReasonLength,
			"expected text of at most 512 characters after URL-encoding",
		),
		v.transform((input) => input.trim()),
		published({ maxLength: maxReasonLength }),
		v.description("For the audit log."),
	),
);

/** A point in the order of ids. */
export interface Moment {
	/** The lowest id at or after it. */
	first: string;
	/** The highest id before it, or at it if it is an id. */
	lastBefore: string;
}

const momentPattern =
	/^(?:\d{17,20}|\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)?)?)$/;

/** A date, a time or a message id. `what` completes "…: a date, a time or an id". */
export function moment(what: string) {
	const message = ({ input }: { input: string }) =>
		`expected a date such as 2026-01-31, a time such as 2026-01-31T12:00:00Z, or an id, received ${JSON.stringify(input)}`;
	return v.pipe(
		v.string(),
		v.regex(momentPattern, message),
		v.check((input) => readMoment(input) !== undefined, message),
		v.transform((input) => readMoment(input) as Moment),
		// Only the start, to keep tools/list small. The error names the full format.
		published({ pattern: "^\\d{17,20}$|^\\d{4}-\\d\\d-\\d\\d" }),
		v.description(`${what}: a date, a time (ISO 8601, UTC) or an id.`),
	);
}

function readMoment(text: string): Moment | undefined {
	if (/^\d+$/.test(text)) return { first: text, lastBefore: text };
	const at = readTime(text);
	if (at === undefined) return undefined;
	const first = lowestIdAt(at);
	if (first < 1n) return undefined;
	return { first: String(first), lastBefore: String(first - 1n) };
}

/** Parses a date or a time to epoch milliseconds. Default time zone: UTC. */
function readTime(text: string): number | undefined {
	const [day = "", clock] = text.split("T");
	const zoned = /Z|[+-]\d\d:\d\d$/.test(clock ?? "") ? clock : `${clock}Z`;
	const at = Date.parse(clock === undefined ? day : `${day}T${zoned}`);
	// Date.parse takes 30 February for a day in March.
	return Number.isNaN(at) || !isValidDate(day) ? undefined : at;
}

const instantPattern =
	/^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)?$/;

/** Its published pattern: the start only, to keep tools/list small. */
const instantStart = "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d";

function readInstant(text: string): string | undefined {
	const at = instantPattern.test(text) ? readTime(text) : undefined;
	return at === undefined ? undefined : new Date(at).toISOString();
}

/** A time, normalized to ISO 8601 in UTC with milliseconds. `what` completes "…: a time". */
export function instant(what: string) {
	return v.pipe(
		v.string(),
		v.check(
			(input) => readInstant(input) !== undefined,
			({ input }) =>
				`expected a time such as 2026-01-31T12:00:00Z, received ${JSON.stringify(input)}`,
		),
		v.transform((input) => readInstant(input) ?? ""),
		published({ pattern: `^${instantStart}` }),
		v.description(`${what}: a time (ISO 8601, UTC).`),
	);
}

/** Like `instant`, or "" for none. */
export function instantOrNone(what: string) {
	return v.pipe(
		v.string(),
		v.check(
			(input) => input === "" || readInstant(input) !== undefined,
			({ input }) =>
				`expected a time such as 2026-01-31T12:00:00Z or nothing, received ${JSON.stringify(input)}`,
		),
		v.transform((input) => readInstant(input) ?? ""),
		published({ pattern: `^($|${instantStart})` }),
		v.description(`${what}: a time (ISO 8601, UTC), or "" for none.`),
	);
}

function isValidDate(day: string): boolean {
	const at = Date.parse(`${day}T00:00Z`);
	return !Number.isNaN(at) && new Date(at).toISOString().startsWith(day);
}

/** An integer in `[min, max]`. */
export function integer(min: number, max: number, description: string) {
	const expected = `expected an integer from ${min} to ${max}`;
	return v.pipe(
		v.number(),
		v.integer(expected),
		v.minValue(min, expected),
		v.maxValue(max, expected),
		v.description(description),
	);
}

export function flag(description: string) {
	return v.pipe(v.boolean(), v.description(description));
}

export function choice<const Option extends string>(
	options: readonly Option[],
	description: string,
) {
	return v.pipe(v.picklist(options), v.description(description));
}

/** Like `choice`, but case-insensitive: clients of other servers' tools use either case. */
export function choiceInAnyCase<const Option extends string>(
	options: readonly Option[],
	description: string,
) {
	return v.pipe(
		v.string(),
		v.transform((input) => input.toLowerCase()),
		v.picklist(options),
		v.description(description),
	);
}

/** A bit field of permissions as a decimal string. */
export function permissionBits(what: string) {
	return v.optional(
		v.pipe(
			v.string(),
			v.regex(/^\d{1,20}$/, "expected a decimal number as a string"),
			v.description(`${what}, bits in decimal.`),
		),
	);
}

export function permissionNames(what: string) {
	return v.optional(list(v.string(), 0, 64, `${what}, by name: VIEW_CHANNEL.`));
}

/** The guild. Default, also for "": the instance's own. */
export const guild_id = v.optional(
	v.pipe(
		v.string(),
		v.check(
			(input) => /^(\d{17,20})?$/.test(input),
			({ input }) =>
				`expected an id of 17 to 20 digits, received ${JSON.stringify(input)}`,
		),
		v.description("Default: the bot's."),
	),
);

/** The maximum number of items: clamped to an integer in `[1, max]`, never refused. */
export function limit(
	max: number,
	defaultLimit: number,
	description = "How many at most.",
) {
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

/** Text of `min` to `max` characters. Discord counts code points. */
export function text(min: number, max: number, description: string) {
	return v.pipe(
		v.string(),
		v.check(
			(input) => {
				const length = [...input].length;
				return length >= min && length <= max;
			},
			({ input }) =>
				`expected ${min} to ${max} characters, received ${[...input].length}`,
		),
		published({ ...(min > 0 && { minLength: min }), maxLength: max }),
		v.description(description),
	);
}
