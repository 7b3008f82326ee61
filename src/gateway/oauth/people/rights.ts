// Who may sign in: people who may do so in at least one guild of one bot. The bots decide.

import type { Fields, Log } from "../../../lib/log.ts";
import type { PrincipalPerson } from "../../../lib/principal.ts";
import type { PersonGuild, PersonRights } from "../../../mcp/rights.ts";
import { said } from "../../../texts/texts.ts";
import { OAuthError } from "../protocol/oauth-error.ts";
import type { DiscordPerson } from "./discord.ts";

/** One answer for each bot, undefined if it did not answer. Within a time limit. */
export type AskRights = (person: PrincipalPerson) => Promise<readonly (PersonRights | undefined)[]>;

/**
 * Rejects with an OAuthError: "access_denied" if none, after logging `denied`; "temporarily_unavailable" if a bot did not
 * tell about all.
 */
export async function guildsOf(
	person: DiscordPerson,
	{ askRights, log }: { askRights: AskRights; log: Log },
	denied: string,
	fields: Fields = { person: person.id },
): Promise<PersonGuild[]> {
	const answers = await askRights({ ...person, signedIn: true });
	const all = answers.flatMap((answer) => answer?.guilds ?? []);
	const guilds = all.filter(({ signIn }) => signIn);
	// Two bots can serve one guild.
	const unique = new Map(guilds.map((guild) => [guild.id, guild]));
	if (unique.size > 0) return [...unique.values()];
	if (answers.some((answer) => !answer || answer.incomplete))
		throw new OAuthError("temporarily_unavailable", said("page.no-bot.again"));
	log.info(denied, fields);
	throw new OAuthError("access_denied", "The person may not sign in in any guild.");
}
