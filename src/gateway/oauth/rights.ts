// Who may sign in: people who may do so in at least one guild of one bot. The bots decide.

import type { PrincipalPerson } from "../../lib/principal.ts";
import type { PersonGuild } from "../../mcp/rights.ts";
import { OAuthError } from "./oauth-error.ts";

/** What one bot says about a person. */
export interface InstanceRights {
	instance: string;
	/** Undefined: the bot did not answer. */
	guilds: readonly PersonGuild[] | undefined;
}

/** Asks the bots about a person, within a deadline. Bots that accept no sign-ins are left out. */
export type AskRights = (
	person: PrincipalPerson,
) => Promise<readonly InstanceRights[]>;

/**
 * Returns the guilds in which a person may sign in. Rejects with an OAuthError if there are none: "access_denied", or
 * "temporarily_unavailable" if a bot that did not answer could have one.
 */
export async function guildsOf(
	person: PrincipalPerson,
	askRights: AskRights,
): Promise<PersonGuild[]> {
	const answers = await askRights(person);
	const all = answers.flatMap(({ guilds = [] }) => guilds);
	const guilds = all.filter(({ signIn }) => signIn);
	// Two bots can serve one guild.
	const unique = new Map(guilds.map((guild) => [guild.id, guild]));
	if (unique.size > 0) return [...unique.values()];
	if (answers.some((answer) => answer.guilds === undefined))
		throw new OAuthError(
			"temporarily_unavailable",
			"A bot did not answer. Try again later.",
		);
	throw new OAuthError(
		"access_denied",
		"The person may not sign in in any guild.",
	);
}
