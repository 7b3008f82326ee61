// Where Discord sends people back to. Learns who the person is and asks the bots whether they may sign in; then shows
// them the consent page, or the console.

import type { PersonGuild } from "../../../mcp/rights.ts";
import { type Language, said } from "../../../texts/texts.ts";
import type { AttemptKey, AuthorizationRequest } from "../grants/attempts.ts";
import { type ErrorPage, errorPage, redirect } from "../pages/page.ts";
import { DiscordFailure, type DiscordPerson } from "../people/discord.ts";
import { guildsOf } from "../people/rights.ts";
import { paths } from "../protocol/metadata.ts";
import { OAuthError } from "../protocol/oauth-error.ts";
import { queryOf } from "../protocol/parameters.ts";
import { backLink, languageFor, type OAuthContext } from "./context.ts";

export function createCallback(context: OAuthContext) {
	const { attempts, browsers, discord, log, publicUrl } = context;

	function refuse(
		request: AuthorizationRequest | undefined,
		page: ErrorPage,
		error: OAuthError,
		language: Language,
	): Response {
		return errorPage({ ...page, back: request && backLink(publicUrl, request, error) }, language);
	}

	return async (request: Request): Promise<Response> => {
		const language = languageFor(request);
		const parameters = queryOf(request);
		const key = browsers.keyOf(request, parameters.get("state"));
		const attempt = key && (await attempts.comeBack(key));
		if (!key || !attempt)
			return errorPage({ status: 400, title: said("page.lost"), text: said("page.lost.text") }, language);
		const code = parameters.get("code");
		if (code === undefined)
			return refuse(
				attempt.request,
				{ status: 400, title: said("page.not-signed-in"), text: said("page.not-signed-in.text") },
				new OAuthError("access_denied", "The person did not sign in."),
				language,
			);
		let person: DiscordPerson;
		try {
			person = await discord.personOf(code);
		} catch (error) {
			if (!(error instanceof DiscordFailure)) throw error;
			log.warn("could not learn from Discord who signs in", { error });
			return refuse(
				attempt.request,
				{ status: 502, title: said("page.no-answer"), text: said("page.no-answer.text") },
				new OAuthError("temporarily_unavailable", "Discord did not answer."),
				language,
			);
		}
		if (attempt.request) return askForConsent(key, attempt.request, person, language);
		await attempts.setPerson(key, person, []);
		return redirect(`${paths.console}?from=discord`);
	};

	async function askForConsent(
		key: AttemptKey,
		request: AuthorizationRequest,
		person: DiscordPerson,
		language: Language,
	): Promise<Response> {
		let guilds: PersonGuild[];
		try {
			const fields = { person: person.id, client: request.client.name };
			guilds = await guildsOf(person, context, "refused a sign-in: no guild allows it", fields);
		} catch (error) {
			if (!(error instanceof OAuthError)) throw error;
			const page =
				error.code === "access_denied"
					? { status: 403, title: said("page.refused"), text: said("page.refused.text", { person: person.name }) }
					: { status: 503, title: said("page.unavailable"), text: said("page.no-bot") };
			return refuse(request, page, error, language);
		}
		await attempts.setPerson(key, person, guilds);
		return redirect(`${paths.consent}?request=${key.state}`);
	}
}
