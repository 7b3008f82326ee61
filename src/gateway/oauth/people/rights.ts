// Who may sign in: people who may do so in at least one guild of one bot. The bots decide.

import type { PrincipalPerson } from "../../../lib/principal.ts";
import type { PersonGuild, PersonRights } from "../../../mcp/rights.ts";
import { OAuthError } from "../protocol/oauth-error.ts";

/** A bot's answer to the question in which of its guilds a person is, and may sign in. */
export interface InstanceRights {
	instance: string;
	/** The person's guilds at this bot; undefined if the bot did not answer. */
	guilds: PersonRights["guilds"] | undefined;
	incomplete?: PersonRights["incomplete"];
}

/**
 * Asks all bots that accept sign-ins in which of their guilds a person is. Resolves within a time limit, even if bots
 * do not answer.
 */
export type AskRights = (person: PrincipalPerson) => Promise<readonly InstanceRights[]>;

/**
 * Returns the guilds in which a person may sign in. Rejects with an OAuthError if there are none: "access_denied", or
 * "temporarily_unavailable" if a bot did not answer, or could not tell about all of its guilds.
 */
export async function guildsOf(person: PrincipalPerson, askRights: AskRights): Promise<PersonGuild[]> {
	const answers = await askRights(person);
	const all = answers.flatMap(({ guilds = [] }) => guilds);
	const guilds = all.filter(({ signIn }) => signIn);
	// Two bots can serve one guild.
	const unique = new Map(guilds.map((guild) => [guild.id, guild]));
	if (unique.size > 0) return [...unique.values()];
	if (answers.some(({ guilds, incomplete }) => !guilds || incomplete))
		throw new OAuthError("temporarily_unavailable", "A bot did not answer. Try again later.");
	throw new OAuthError("access_denied", "The person may not sign in in any guild.");
}
