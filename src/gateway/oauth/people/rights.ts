// Who may sign in: people who may do so in at least one guild of one bot. The bots decide.

import type { PrincipalPerson } from "../../../lib/principal.ts";
import type { PersonGuild, PersonRights } from "../../../mcp/rights.ts";
import { said } from "../../../texts/texts.ts";
import { OAuthError } from "../protocol/oauth-error.ts";

/** Where a person is, and may sign in. */
export interface InstanceRights {
	instance: string;
	/** Undefined if the bot did not answer. */
	guilds: PersonRights["guilds"] | undefined;
	incomplete?: PersonRights["incomplete"];
}

/** Within a time limit, even if bots do not answer. */
export type AskRights = (person: PrincipalPerson) => Promise<readonly InstanceRights[]>;

/** Rejects with an OAuthError: "access_denied" if none, "temporarily_unavailable" if a bot did not tell about all. */
export async function guildsOf(person: PrincipalPerson, askRights: AskRights): Promise<PersonGuild[]> {
	const answers = await askRights(person);
	const all = answers.flatMap(({ guilds = [] }) => guilds);
	const guilds = all.filter(({ signIn }) => signIn);
	// Two bots can serve one guild.
	const unique = new Map(guilds.map((guild) => [guild.id, guild]));
	if (unique.size > 0) return [...unique.values()];
	if (answers.some(({ guilds, incomplete }) => !guilds || incomplete))
		throw new OAuthError("temporarily_unavailable", said("page.no-bot.again"));
	throw new OAuthError("access_denied", "The person may not sign in in any guild.");
}
