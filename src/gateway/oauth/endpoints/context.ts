// What the endpoints of the authorization server share.

import type { Log } from "../../../lib/log.ts";
import { acceptedLanguage, type Language, said } from "../../../texts/texts.ts";
import type { SenderLimit } from "../../http/sender-limit.ts";
import { newSecret } from "../../keys/token.ts";
import type { Clients } from "../clients/clients.ts";
import type { Attempts, AuthorizationRequest } from "../grants/attempts.ts";
import type { Grants } from "../grants/grants.ts";
import type { BackLink } from "../pages/page.ts";
import type { Browsers } from "../people/browser.ts";
import type { Discord } from "../people/discord.ts";
import type { AskRights } from "../people/rights.ts";
import { OAuthError } from "../protocol/oauth-error.ts";

export interface OAuthContext {
	/** An origin; also the OAuth issuer. */
	publicUrl: string;
	attempts: Attempts;
	askRights: AskRights;
	browsers: Browsers;
	/** Once after a call of this principal was refused in the last seconds, because it needs more scope. */
	takeChallenge(principalId: string): boolean;
	clients: Clients;
	discord: Discord;
	grants: Grants;
	log: Log;
	/** Sign-ins that begin: of clients and the console. */
	signIns: SenderLimit;
}

/** The URL at Discord, and the cookie that ties it to the browser. Rejects with an OAuthError if too many begin. */
export async function beginSignIn(
	{ attempts, browsers, discord, signIns }: OAuthContext,
	request: Request,
	address: string,
	wanted?: AuthorizationRequest,
) {
	if (!signIns.take(address)) throw new OAuthError("temporarily_unavailable", said("page.too-many"));
	const browser = browsers.secretOf(request) ?? newSecret();
	const state = await attempts.start(browser, wanted);
	return { url: discord.signInUrl(state), cookie: browsers.setCookie(browser) };
}

/** With `parameters`, `state` and the issuer, by which clients detect another server (RFC 9207). */
export function clientUrl(
	publicUrl: string,
	{ redirectUri, state }: Pick<AuthorizationRequest, "redirectUri" | "state">,
	parameters: Record<string, string>,
): string {
	const query = new URLSearchParams(parameters);
	if (state !== undefined) query.set("state", state);
	query.set("iss", publicUrl);
	// The address is not parsed and built again: clients compare it as a text.
	return `${redirectUri}${redirectUri.includes("?") ? "&" : "?"}${query}`;
}

/** From an error page to the client, with the error. */
export function backLink(
	publicUrl: string,
	request: Pick<AuthorizationRequest, "client" | "redirectUri" | "state">,
	{ code, message }: OAuthError,
): BackLink {
	return { name: request.client.name, url: clientUrl(publicUrl, request, { error: code, error_description: message }) };
}

/** Of the browser. */
export function languageFor({ headers }: Request): Language {
	return acceptedLanguage(headers.get("accept-language"));
}
