// Where Discord sends people back to. Learns who the person is and asks the bots whether they may sign in; then shows
// them the consent page, or their connections.

import type { PersonGuild } from "../../../mcp/rights.ts";
import type { AttemptKey, AuthorizationRequest } from "../grants/attempts.ts";
import { errorPage, redirect } from "../pages/page.ts";
import { DiscordFailure, type DiscordPerson } from "../people/discord.ts";
import { guildsOf } from "../people/rights.ts";
import { paths } from "../protocol/metadata.ts";
import { OAuthError } from "../protocol/oauth-error.ts";
import { queryOf } from "../protocol/parameters.ts";
import { consoleState } from "./console-sign-in.ts";
import { asPage, backLink, type OAuthContext } from "./context.ts";

export function createCallback(context: OAuthContext): (request: Request) => Promise<Response> {
	const { askRights, attempts, browsers, discord, log, publicUrl } = context;

	function refuse(
		request: AuthorizationRequest | undefined,
		page: { status: number; title: string; text: string },
		error: OAuthError,
	): Response {
		const back = request && backLink(publicUrl, request, error);
		return errorPage({ ...page, back });
	}

	async function complete(request: Request): Promise<Response> {
		const parameters = queryOf(request);
		const browser = browsers.secretOf(request);
		const state = parameters.get("state");
		const key = browser && state ? { browser, state } : undefined;
		const attempt = key && (await attempts.comeBack(key));
		if (!key || !attempt)
			return errorPage({
				status: 400,
				title: "This sign-in cannot be continued",
				text: "It was begun in another browser, took longer than ten minutes, or has been continued before. Go back to the program that you want to connect, and connect it again.",
			});
		const code = parameters.get("code");
		if (code === undefined)
			return refuse(
				attempt.request,
				{
					status: 400,
					title: "You did not sign in",
					text: "Discord sent you back without a sign-in, because you cancelled it or because of an error.",
				},
				new OAuthError("access_denied", "The person did not sign in."),
			);
		let person: DiscordPerson;
		try {
			person = await discord.personOf(code);
		} catch (error) {
			if (!(error instanceof DiscordFailure)) throw error;
			log.warn("could not learn from Discord who signs in", { error });
			return refuse(
				attempt.request,
				{ status: 502, title: "Discord did not tell who you are", text: "Wait a moment, then connect again." },
				new OAuthError("temporarily_unavailable", "Discord did not answer."),
			);
		}
		return attempt.request ? askForConsent(key, attempt.request, person) : showPage(key, person);
	}

	async function askForConsent(
		key: AttemptKey,
		request: AuthorizationRequest,
		person: DiscordPerson,
	): Promise<Response> {
		let guilds: PersonGuild[];
		try {
			guilds = await guildsOf({ ...person, signedIn: true }, askRights);
		} catch (error) {
			if (!(error instanceof OAuthError)) throw error;
			const isDenied = error.code === "access_denied";
			if (isDenied)
				log.info("refused a sign-in: no guild allows it", { person: person.id, client: request.client.name });
			const page = isDenied
				? {
						status: 403,
						title: "You cannot sign in here",
						text: `You signed in as ${person.name}. Signing in needs the permission Manage Server, or a role that the bot's operator has chosen, in one of its servers.`,
					}
				: {
						status: 503,
						title: "Not available right now",
						text: "A bot did not answer, so it is unknown whether you may sign in. Wait a moment, then connect again.",
					};
			return refuse(request, page, error);
		}
		await attempts.setPerson(key, person, guilds);
		return redirect(`${paths.consent}?request=${key.state}`);
	}

	async function showPage(key: AttemptKey, person: DiscordPerson): Promise<Response> {
		await attempts.setPerson(key, person, []);
		const isForConsole = key.state.startsWith(consoleState);
		return redirect(isForConsole ? `${paths.console}?from=discord` : paths.connections);
	}

	return (request) => asPage(() => complete(request));
}
