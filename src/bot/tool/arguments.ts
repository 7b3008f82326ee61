// Argument schemas that recur.

import * as v from "valibot";
import { published } from "../../mcp/json-schema.ts";
import type { Finder } from "../discord/find.ts";
import { lowestIdAt } from "../discord/ids.ts";
import { encodedLength, maxReasonLength } from "../discord/text.ts";

/** What the audit log says where no reason is given. */
export const defaultReason = "via MCP";

/** The id of a thing in Discord. `what` completes "Id of the …". */
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

/** The id of a thing that the runner finds: the tool is given the thing. `channel_id` becomes `channel`. */
export function found<Thing>(find: Finder<Thing>, what: string) {
	return { ...snowflake(what), find };
}

/** An id, or an empty text. */
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

/** The id of a thing that the runner finds, with an empty one for "none", if `find` knows what that is. */
export function foundOrNone<Thing>(find: Finder<Thing>, what: string) {
	return { ...snowflakeOrEmpty(`Id of the ${what}, or "" for none.`), find };
}

/** A list of `min` to `max` items, each counted once. */
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

/** Why it is done, for the guild's audit log; the runner says something where it is not given. Discord takes 512 characters of it after URL-encoding. */
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

/** A place in the order of ids. */
export interface Moment {
	/** The lowest id that is not before it. */
	first: string;
	/** The highest id that is not after it. */
	lastBefore: string;
}

const momentPattern =
	/^(?:\d{17,20}|\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)?)?)$/;

/** A time, or the id of a message that was written then. `what` completes "…: a date, a time or an id". */
export function moment(what: string) {
	const fault = ({ input }: { input: string }) =>
		`expected a date such as 2026-01-31, a time such as 2026-01-31T12:00:00Z, or an id, received ${JSON.stringify(input)}`;
	return v.pipe(
		v.string(),
		v.regex(momentPattern, fault),
		v.check((input) => readMoment(input) !== undefined, fault),
		v.transform((input) => readMoment(input) as Moment),
		// What it has to be in full is said by the refusal: a pattern for it would be longer than the rest.
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

/** A date or a time, in milliseconds since 1970; in UTC unless it says otherwise. */
function readTime(text: string): number | undefined {
	const [day = "", clock] = text.split("T");
	const zoned = /Z|[+-]\d\d:\d\d$/.test(clock ?? "") ? clock : `${clock}Z`;
	const at = Date.parse(clock === undefined ? day : `${day}T${zoned}`);
	// The 30th of February is no day, and would count as one of March.
	return Number.isNaN(at) || !isDay(day) ? undefined : at;
}

const instantPattern =
	/^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)?$/;

/** What is published of it: how it begins. */
const instantStart = "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d";

function readInstant(text: string): string | undefined {
	const at = instantPattern.test(text) ? readTime(text) : undefined;
	return at === undefined ? undefined : new Date(at).toISOString();
}

/** A time, as ISO 8601 to the millisecond, in UTC. `what` completes "…: a time". */
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

/** The same with an empty text for none. */
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

function isDay(day: string): boolean {
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

/** The same in capitals or not: programs that were written for other servers write it in either way. */
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

/** A bit field of permissions, as a decimal string. Names may stand beside it. */
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

/** Which guild. Empty means absent, as absent does: the instance's own. */
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

/** How many items at most: a number, moved to the nearest integer in `[1, max]`; never refused. */
export function limit(
	max: number,
	byDefault: number,
	description = "How many at most.",
) {
	return v.optional(
		v.pipe(
			v.number(),
			v.transform((value) => Math.trunc(Math.min(Math.max(value, 1), max))),
			published({ type: "integer", minimum: 1, maximum: max }),
			v.description(description),
		),
		byDefault,
	);
}

/** Text of `min` to `max` characters, counted as Discord counts: by code points. */
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
