// The request guildhall/rights: in which of a bot's guilds is the person of the principal?

import * as v from "valibot";

export const rightsMethod = "guildhall/rights";

/** Discord allows a person to be in 200. */
const maxGuilds = 1_000;

const rights = v.object({
	/** Guilds may be missing, since an outage of Discord hides their members. */
	incomplete: v.optional(v.boolean()),
	guilds: v.array(
		v.object({
			id: v.pipe(v.string(), v.regex(/^\d{1,20}$/)),
			name: v.pipe(v.string(), v.maxLength(1_000)),
			/** By the bot's configuration: may sign in with Discord and use the bot in this guild. */
			signIn: v.boolean(),
		}),
	),
});

export type PersonRights = v.InferOutput<typeof rights>;

/** The person is a member, and tool calls in the person's name may act there. */
export type PersonGuild = PersonRights["guilds"][number];

/** The first 1,000 guilds; undefined if the result is invalid. */
export function readRights(result: unknown): PersonRights | undefined {
	const read = v.safeParse(rights, result);
	if (!read.success) return undefined;
	const { guilds, incomplete } = read.output;
	return { guilds: guilds.slice(0, maxGuilds), incomplete };
}
