// The request guildhall/rights, by which a gateway asks a bot in which of its guilds a person is. The person is the one of
// the request's principal.

import * as v from "valibot";

export const rightsMethod = "guildhall/rights";

/** A guild in which a person is a member and in which tool calls in the person's name may act. */
export interface PersonGuild {
	id: string;
	name: string;
	/** Whether the bot's configuration allows this person to sign in with Discord and use the bot in this guild. */
	signIn: boolean;
}

/** Maximum number of guilds that are read from a bot's response. Discord allows a person to be in 200. */
const maxGuilds = 1_000;

/** What a bot says about a person. */
export interface PersonRights {
	guilds: readonly PersonGuild[];
	/** Whether guilds may be missing, since Discord does not give the bot their members because of an outage. */
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

/** Reads the result of guildhall/rights, with the first 1,000 guilds. Returns undefined if the result is invalid. */
export function readRights(result: unknown): PersonRights | undefined {
	const read = v.safeParse(rights, result);
	if (!read.success) return undefined;
	const { guilds, incomplete } = read.output;
	return { guilds: guilds.slice(0, maxGuilds), incomplete };
}
