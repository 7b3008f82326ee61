// Kinds of values in config.toml and in the settings of a guild, with what is wrong with a value that does not fit.

import * as v from "valibot";
import { bitOf } from "../../guild-document/names/permission-names.ts";
import { expected, formatValue, text } from "../../lib/config.ts";
import { unknownPlaceholders } from "./placeholders.ts";

export const snowflake = v.pipe(
	v.string(),
	v.regex(/^\d{17,20}$/, ({ input }) => {
		const [id] = /\d{17,20}/.exec(input) ?? [];
		const next = id === undefined ? "" : `; leave out all but ${id}`;
		return `expected an id of 17 to 20 digits, received ${formatValue(input)}${next}`;
	}),
);

/** Valibot leaves the two that it refuses out of records. */
const tagPattern = /^(?!(?:constructor|prototype)$)[a-z\d][a-z\d_-]{0,31}$/;
export const tagName = v.pipe(v.string(), v.regex(tagPattern, expected("1 to 32 lower case letters, digits, - and _")));

export const permissionName = v.pipe(
	v.string(),
	v.check(
		(name) => bitOf(name) !== undefined,
		({ input }) => `expected Discord's name of a permission, such as MANAGE_GUILD, received ${formatValue(input)}`,
	),
);

export function word(min: number, max: number) {
	return v.pipe(
		v.string(),
		v.regex(new RegExp(`^\\S{${min},${max}}$`), expected(`${min} to ${max} characters without white space`)),
	);
}

export function templateOf(known: readonly string[]) {
	return v.pipe(
		text(2_000),
		v.check(
			(input) => unknownPlaceholders(input, known).length === 0,
			({ input }) =>
				`expected no other braces than ${known.map((name) => `{${name}}`).join(", ")}, received ${unknownPlaceholders(input, known).map(formatValue).join(", ")}`,
		),
	);
}

export const flag = (defaultValue: boolean) => v.optional(v.boolean(), defaultValue);

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export const duration = v.pipe(
	v.string(),
	v.rawTransform(({ dataset, addIssue, NEVER }) => {
		const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(dataset.value) ?? [];
		if (count && unit) return Number(count) * unitMs[unit as keyof typeof unitMs];
		addIssue({ message: `expected a duration such as "30m", "12h" or "3d", received ${formatValue(dataset.value)}` });
		return NEVER;
	}),
);

export function durationFrom(min: string, max: string) {
	const [minMs, maxMs] = [v.parse(duration, min), v.parse(duration, max)];
	return v.pipe(
		v.string(),
		v.check(
			(input) => {
				const { output, success } = v.safeParse(duration, input);
				return !success || (output >= minMs && output <= maxMs);
			},
			expected(`a duration from "${min}" to "${max}"`),
		),
		duration,
	);
}

export const joinRate = v.pipe(
	v.string(),
	v.rawTransform(({ dataset, addIssue, NEVER }) => {
		const [, count, window] = /^(\d{1,4}) joins in (\d{1,6}[smhd])$/.exec(dataset.value) ?? [];
		const joins = Number(count);
		const windowMs = window === undefined ? 0 : v.parse(duration, window);
		const isValid = joins >= 2 && joins <= 1_000 && windowMs <= unitMs.d;
		if (windowMs > 0 && isValid) return { joins, windowMs };
		addIssue({
			message: `expected 2 to 1000 joins within at most a day, such as "20 joins in 60s", received ${formatValue(dataset.value)}`,
		});
		return NEVER;
	}),
);

export const timezone = v.pipe(v.string(), v.check(isTimezone, expected('an IANA time zone such as "Europe/Berlin"')));

function isTimezone(name: string): boolean {
	// Reject offsets: they ignore daylight saving time.
	if (!/^[A-Za-z]/.test(name)) return false;
	try {
		new Intl.DateTimeFormat("en", { timeZone: name });
		return true;
	} catch {
		return false;
	}
}

export const link = v.pipe(
	v.string(),
	v.regex(
		/^(?!www\.)[\p{L}\p{N}-]+(\.[\p{L}\p{N}-]+)+(\/\S*)?$/u,
		expected('a host such as "example.com", or the start of a path on it'),
	),
	v.maxLength(200, "expected at most 200 characters"),
);
