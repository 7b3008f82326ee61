// The request guildhall/rights: in which of a bot's guilds is the person of the principal?

import * as v from "valibot";

export const rightsMethod = "guildhall/rights";

/** The person is a member, and tool calls in the person's name may act there. */
export interface PersonGuild {
	id: string;
	name: string;
	/** By the bot's configuration: may sign in with Discord and use the bot in this guild. */
	signIn: boolean;
}

/** Discord allows a person to be in 200. */
const maxGuilds = 1_000;

export interface PersonRights {
	guilds: readonly PersonGuild[];
	/** Guilds may be missing, since an outage of Discord hides their members. */
	incomplete?: boolean | undefined;
}

const rights = v.object({
	incomplete: v.optional(v.boolean()),
	guilds: v.array(
		v.object({
			id: v.pipe(v.string(), v.regex(/^\d{1,20}$/)),
			name: v.pipe(v.string(), v.maxLength(1_000)),
			signIn: v.boolean(),
		}),
	),
});

/** The first 1,000 guilds; undefined if the result is invalid. */
export function readRights(result: unknown): PersonRights | undefined {
	const read = v.safeParse(rights, result);
	if (!read.success) return undefined;
	const { guilds, incomplete } = read.output;
	return { guilds: guilds.slice(0, maxGuilds), incomplete };
}
