// Where Discord sends people back to. Learns who the person is and asks the bots whether they may sign in; then shows
// them the consent page, or the console.

import type { PersonGuild } from "../../../mcp/rights.ts";
import { said } from "../../../texts/texts.ts";
import { type ErrorPage, errorPage, redirect } from "../pages/page.ts";
import { DiscordFailure, type DiscordPerson } from "../people/discord.ts";
import { guildsOf } from "../people/rights.ts";
import { paths } from "../protocol/metadata.ts";
import { OAuthError } from "../protocol/oauth-error.ts";
import { queryOf } from "../protocol/parameters.ts";
import { backLink, languageFor, type OAuthContext } from "./context.ts";

export function createCallback(context: OAuthContext) {
	const { attempts, browsers, discord, log, publicUrl } = context;

	return async (request: Request): Promise<Response> => {
		const language = languageFor(request);
		const parameters = queryOf(request);
		const key = browsers.keyOf(request, parameters.get("state"));
		const attempt = key && (await attempts.comeBack(key));
		if (!key || !attempt)
			return errorPage({ status: 400, title: said("page.lost"), text: said("page.lost.text") }, language);
		const { request: wanted } = attempt;
		const refuse = (page: ErrorPage, error: OAuthError) =>
			errorPage({ ...page, back: wanted && backLink(publicUrl, wanted, error) }, language);
		const code = parameters.get("code");
		if (code === undefined)
			return refuse(
				{ status: 400, title: said("page.not-signed-in"), text: said("page.not-signed-in.text") },
				new OAuthError("access_denied", "The person did not sign in."),
			);
		let person: DiscordPerson;
		try {
			person = await discord.personOf(code);
		} catch (error) {
			if (!(error instanceof DiscordFailure)) throw error;
			log.warn("could not learn from Discord who signs in", { error });
			return refuse(
				{ status: 502, title: said("page.no-answer"), text: said("page.no-answer.text") },
				new OAuthError("temporarily_unavailable", "Discord did not answer."),
			);
		}
		let guilds: PersonGuild[] = [];
		try {
			const fields = { person: person.id, client: wanted?.client.name };
			if (wanted) guilds = await guildsOf(person, context, "refused a sign-in: no guild allows it", fields);
		} catch (error) {
			if (!(error instanceof OAuthError)) throw error;
			const page =
				error.code === "access_denied"
					? { status: 403, title: said("page.refused"), text: said("page.refused.text", { person: person.name }) }
					: { status: 503, title: said("page.unavailable"), text: said("page.no-bot") };
			return refuse(page, error);
		}
		await attempts.setPerson(key, person, guilds);
		return redirect(wanted ? `${paths.consent}?request=${key.state}` : `${paths.console}?from=discord`);
	};
}
