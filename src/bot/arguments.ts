// Argument schemas that recur.

import * as v from "valibot";
import { published } from "../mcp/json-schema.ts";

const idPattern = "^\\d{17,20}$";

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

/** Which guild. Empty means absent, as absent does: the instance's own. */
export const guild_id = v.optional(
	v.pipe(
		v.string(),
		v.check(
			(input) => /^(\d{17,20})?$/.test(input),
			({ input }) =>
				`expected an id of 17 to 20 digits, received ${JSON.stringify(input)}`,
		),
		published({ pattern: idPattern }),
		v.description("Id of the guild; the instance's own guild when omitted."),
	),
);

/** How many items at most: a number, moved to the nearest integer in `[1, max]`; never refused. */
export function limit(max: number, byDefault: number) {
	return v.optional(
		v.pipe(
			v.number(),
			v.transform((value) => Math.trunc(Math.min(Math.max(value, 1), max))),
			published({ type: "integer", minimum: 1, maximum: max }),
			v.description(
				`How many at most, 1 to ${max}; a number outside is moved to the nearest.`,
			),
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
		published({ minLength: min, maxLength: max }),
		v.description(description),
	);
}
