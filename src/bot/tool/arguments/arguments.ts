// Argument schemas shared by tools.

import { SnowflakeUtil } from "discord.js";
import * as v from "valibot";
import type { Finder } from "../../../discord/find.ts";
import { allBits, bitOf } from "../../../discord/permissions.ts";
import { lengthOf, maxReasonLength, oneLine } from "../../../discord/text.ts";
import { compareIds, lowestIdAt } from "../../../guild-document/names/ids.ts";
import { readAnyTime, secondsOf } from "../../../lib/times.ts";
import { published, publishedAs, toJsonSchema } from "../../../mcp/json-schema.ts";
import { invalidParameters } from "../../../mcp/tool.ts";
import { SaidError } from "../../../texts/said-error.ts";
import { said } from "../../../texts/texts.ts";

/** In Discord's audit log, without `reason`. */
export const defaultReason = "via MCP";

/** Error message: what was expected, and the value received. */
export const expected = (what: string) => (issue: v.BaseIssue<unknown>) =>
	`expected ${what}, received ${JSON.stringify(issue.input)}`;

/** Beside the id, for the error: see names.ts. */
function nameInstead(what: string): string {
	if (/^previous/.test(what)) return "";
	if (/channel|thread|forum|category/.test(what)) return " or #name";
	return /user|member|role|author|moderator|person/.test(what) ? " or @name" : "";
}

/** `what`: what the id stands for, such as "channel". */
export function snowflake(what: string) {
	return v.pipe(
		v.string(),
		v.regex(/^\d{17,20}$/, expected(`an id of 17 to 20 digits${nameInstead(what)}`)),
		v.description(`The ${what}.`),
	);
}

/** `find` looks up the object before the tool runs: the tool receives `channel_id` and `channel`. */
export function found<Thing>(find: Finder<Thing>, what: string) {
	return { ...snowflake(what), find };
}

export function snowflakeOrEmpty(description: string) {
	return v.pipe(
		v.string(),
		v.regex(/^(\d{17,20})?$/, expected("an id of 17 to 20 digits or nothing")),
		v.description(description),
	);
}

/** Like `found`, or "" for no object. */
export function foundOrNone<Thing>(find: Finder<Thing>, what: string) {
	return { ...snowflakeOrEmpty(`The ${what}, or "" for none.`), find };
}

/** `min` to `max` items. Removes duplicates after the check. Accepts a text without a list. `item` is for `find`. */
export function list<const Item extends v.GenericSchema>(item: Item, min: number, max: number, description: string) {
	const many = v.pipe(
		v.array(item),
		v.minLength(min, `expected at least ${min}`),
		v.maxLength(max, `expected at most ${max}`),
		v.transform((items) => [...new Set(items)]),
		v.description(description),
	);
	const one = v.pipe(
		item,
		v.transform((given) => [given]),
	);
	const isOne = (given: unknown) => typeof given === "string" && /^(string|picklist)$/.test(item.type) && min <= 1;
	return {
		...v.pipe(
			v.lazy((given): typeof many | typeof one => (isOne(given) ? one : many)),
			publishedAs(toJsonSchema(many)),
		),
		item,
	};
}

/** Like `list`, and says that one item needs no list. */
export function oneOrMore<const Item extends v.GenericSchema<string>>(item: Item, max: number, description: string) {
	const many = list(item, 1, max, description);
	return { ...v.pipe(many, publishedAs({ ...toJsonSchema(many), type: ["string", "array"] })), item };
}

const maxQueries = 20;

/** A part of a name, or several. */
export function nameQuery(description: string) {
	return oneOrMore(text(1, 100, description), maxQueries, description);
}

/** For the audit log, as the instructions of the server say. Rejects lone surrogates, which cannot be URL-encoded. */
export const reason = v.optional(
	v.pipe(
		v.string(),
		v.check(
			(input) => input.isWellFormed() && lengthOf(input) <= maxReasonLength,
			"expected text of at most 512 characters",
		),
		v.transform((input) => input.trim()),
	),
);

export const tell = flag("DM them.");

/** A point in time: in milliseconds, and as Discord ids, which contain a creation time. */
export interface Moment {
	/** Lowest id of what was created then or later. */
	first: string;
	/** Highest id of what was created before; of a given id, that id. */
	lastBefore: string;
	/** Epoch milliseconds. */
	atMs: number;
}

export const timeExamples =
	"a duration such as 6h, a date such as 2026-01-31, a time such as 2026-01-31T12:00:00Z, or an id";
/** JSON Schema pattern of the start of a point in time. */
export const timeStart = "now$|(in |[+-])?\\d{1,9} ?[smhdwySMHDWY]|\\d{17,20}$|\\d{4}-\\d\\d-\\d\\d";

/** A duration before now, a date, a time or an id. `isStart`: what was before Discord is the beginning. */
export function moment(what: string, isStart = false) {
	return v.pipe(
		v.string(),
		v.check((input) => readMoment(input, isStart) !== undefined, expected(timeExamples)),
		v.transform((input) => readMoment(input, isStart) as Moment),
		published({ pattern: `^(${timeStart})` }),
		v.description(`${what}: 6h (ago), date, time or id.`),
	);
}

function readMoment(text: string, isStart: boolean): Moment | undefined {
	if (isId(text)) return { first: text, lastBefore: text, atMs: SnowflakeUtil.timestampFrom(text) };
	const atMs = readAnyTime(text, -1);
	if (atMs === undefined) return undefined;
	const first = lowestIdAt(atMs);
	if (first < 1n) return isStart ? { first: "0", lastBefore: "0", atMs } : undefined;
	return { first: String(first), lastBefore: String(first - 1n), atMs };
}

function isId(text: string): boolean {
	return /^\d{17,20}$/.test(text);
}

/** A duration from now, a date, a time or a Discord id, converted to ISO 8601 in UTC. `orNone`: "" is valid. */
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

/** Inclusive. */
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

/** Optional. */
export function flag<const Default extends boolean | undefined = undefined>(description: string, usual?: Default) {
	return v.optional(v.pipe(v.boolean(), v.description(description)), usual as Default);
}

export function choice<const Option extends string>(options: readonly Option[], description: string) {
	return v.pipe(v.picklist(options), v.description(description));
}

/** `options` are lower case; upper case is accepted, too. */
export function choiceInAnyCase<const Option extends string>(options: readonly Option[], description: string) {
	return v.pipe(
		v.string(),
		v.transform((input) => input.toLowerCase()),
		v.picklist(options),
		v.description(description),
	);
}

/** See `readPermissions`: in a list or in one text. */
export function permissionList(description: string) {
	return v.pipe(
		v.union([v.array(v.string()), v.string()]),
		v.transform((given) => (typeof given === "string" ? given.split(/[\s,|]+/).filter(Boolean) : given)),
		publishedAs({ type: "array", items: { type: "string" }, description }),
	);
}

/** An object, or a text alone for its field `field`. */
export function orText<const Schema extends v.GenericSchema>(schema: Schema, field: string) {
	return v.pipe(
		v.unknown(),
		v.transform((given) => (typeof given === "string" ? { [field]: given } : given)),
		schema as Schema & v.GenericSchema<unknown>,
		publishedAs(toJsonSchema(schema)),
	);
}

/** If omitted or "", the setting GUILD_ID. The instructions of the server say so, once for all tools. */
export const guild_id = v.optional(
	v.pipe(
		v.string(),
		v.check((input) => /^(\d{17,20})?$/.test(input), expected("an id of 17 to 20 digits")),
	),
);

/** Clamped to `min` to `max`, not rejected. */
export function limit(max: number, defaultLimit: number, description = "Maximum.", min = 1) {
	return v.optional(
		v.pipe(
			v.number(),
			v.transform((value) => Math.trunc(Math.min(Math.max(value, min), max))),
			published({ type: "integer", minimum: min, maximum: max }),
			v.description(description),
		),
		defaultLimit,
	);
}

/** In Unicode code points. */
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

/** Throws an RpcError otherwise. `hint` is appended to its message. */
export function requireOneOf<Name extends string>(
	args: { readonly [Key in Name]?: unknown },
	names: readonly Name[],
	hint = "",
): void {
	if (names.every((name) => args[name] === undefined))
		throw invalidParameters([`${names.join(", ")}: expected at least one of these${hint}`]);
}

/** Throws an RpcError unless exactly one is given. */
export function requireEither<Name extends string>(
	args: { readonly [Key in Name]?: unknown },
	names: readonly [Name, Name],
	expected = "exactly one of the two",
): void {
	const [one, other] = names;
	if ((args[one] === undefined) === (args[other] === undefined))
		throw invalidParameters([`${names.join(", ")}: expected ${expected}`]);
}

/** Names such as VIEW_CHANNEL, or bit fields as decimal strings. Throws an RpcError that names the argument `field`. */
export function readPermissions(field: string, permissions: readonly string[]): bigint {
	let bits = 0n;
	for (const item of permissions) {
		const bit = /^\d{1,20}$/.test(item) ? BigInt(item) : bitOf(item);
		if (bit === undefined)
			throw invalidParameters([
				`${field}: Discord has no permission ${oneLine(JSON.stringify(item))}; expected a name such as VIEW_CHANNEL`,
			]);
		bits |= bit;
	}
	const unknown = bits & ~allBits;
	if (unknown === 0n) return bits;
	throw invalidParameters([`${field}: Discord has no permission for the bits ${unknown}`]);
}

/** JSON Schema pattern of all of them. */
export const durationPattern = "^(off|none|forever|(\\d{1,9} ?[a-zA-Z]{1,7} ?)+)$";

interface Range {
	/** Default: "1s". */
	min?: string;
	max: string;
	/** The word for 0. */
	none?: "off" | "none" | "forever";
	/** The smallest unit. */
	whole?: "hours" | "days";
}

function durationArgument(read: (text: string) => number | undefined, what: string, description: string) {
	return v.pipe(
		v.string(),
		v.check((input) => read(input) !== undefined, expected(what)),
		v.transform((input) => read(input) ?? 0),
		published({ pattern: durationPattern }),
		v.description(description),
	);
}

/** Inclusive. */
export function duration({ min = "1s", max, none, whole }: Range, description: string) {
	const [least, most] = [secondsOf(min), secondsOf(max)];
	const step = whole ? secondsOf(`1 ${whole}`) : 1;
	const read = (text: string) => {
		if (none !== undefined && (text === none || secondsOf(text) === 0)) return 0;
		const seconds = secondsOf(text);
		return seconds >= least && seconds <= most && seconds % step === 0 ? seconds : undefined;
	};
	const unit = whole ? ` in whole ${whole}` : "";
	return durationArgument(read, `a duration from ${min} to ${max}${unit}${none ? ` or "${none}"` : ""}`, description);
}

/** One of those that Discord has. */
export function durationOf(options: readonly string[], description: string) {
	const seconds = options.map(secondsOf);
	const read = (text: string) => seconds.find((one) => one === secondsOf(text));
	return durationArgument(read, `one of ${options.join(", ")}`, description);
}

/** Such as "#8E44AD". */
export const hexColorPattern = "^#[0-9A-Fa-f]{6}$";

/** 0 to 0xffffff. For Discord, 0 (black) means no color. */
export const color = v.pipe(
	v.union([v.string(), v.number()]),
	v.check((input) => readColor(input) !== undefined, expected('a color such as "#8E44AD", "purple" or "none"')),
	v.transform((input) => readColor(input) as number),
	// Numbers are accepted, too: the argument took nothing else in former versions.
	publishedAs({ type: "string", pattern: hexColorPattern, description: "As #8E44AD, purple or none." }),
);

function readColor(input: string | number): number | undefined {
	if (typeof input === "number") return Number.isInteger(input) && input >= 0 && input <= 0xffffff ? input : undefined;
	const text = input.trim().toLowerCase();
	if (text === "none") return 0;
	const [, digits] = /^(?:#|0x)?([0-9a-f]{6})$/.exec(text) ?? [];
	if (digits) return Number.parseInt(digits, 16);
	if (!/^(#[0-9a-f]{3}|[a-z]+)$/.test(text)) return undefined;
	const value: unknown = Bun.color(text, "number");
	return typeof value === "number" ? value : undefined;
}

/** Throws an RpcError if `requested` sets no field, and a SaidError if no value differs. */
export function changesOf<Fields extends object>(
	current: Fields,
	requested: { [Key in keyof Fields]?: NoInfer<Fields[Key]> | undefined },
	subject: string,
	people = said("refusal.nothing_to_change"),
): Partial<Fields> {
	const names = Object.keys(current) as (keyof Fields & string)[];
	requireOneOf(requested, names);
	const present = names.filter((name) => requested[name] !== undefined);
	const changed = present.filter((name) => !Bun.deepEquals(current[name], requested[name]));
	if (changed.length === 0)
		throw new SaidError(people, {
			models: `Nothing would change: ${subject} already has the given ${present.join(", ")}. Nothing was done.`,
		});
	return Object.fromEntries(changed.map((name) => [name, requested[name]])) as Partial<Fields>;
}

/** So that lists of the same ids in different order are equal. */
export function sortedIds(ids: readonly string[]): string {
	return ids.toSorted(compareIds).join(" ");
}
