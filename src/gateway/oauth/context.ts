// What the endpoints of the authorization server share.

import type { Log } from "../../lib/log.ts";
import type { Attempts, AuthorizationRequest } from "./attempts.ts";
import type { Browsers } from "./browser.ts";
import type { Clients } from "./clients.ts";
import type { Clocks } from "./clocks.ts";
import type { Discord } from "./discord.ts";
import type { Grants } from "./grants.ts";
import {
	type OAuthError,
	retryAfterSeconds,
	toOAuthError,
} from "./oauth-error.ts";
import { type BackLink, errorPage } from "./pages/error-page.ts";
import type { AskRights } from "./rights.ts";

export interface OAuthContext {
	/** Origin of the gateway, and the issuer of its tokens. */
	publicUrl: string;
	attempts: Attempts;
	askRights: AskRights;
	browsers: Browsers;
	clients: Clients;
	discord: Discord;
	grants: Grants;
	log: Log;
	monotonicNow: Clocks["monotonicNow"];
}

/**
 * Returns the address that sends a response to a client: `parameters`, its own state, and the issuer, by which it notices
 * responses of another server (RFC 9207).
 */
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

/** Returns the link of an error page back to a client, which tells the client what went wrong. */
export function backLink(
	publicUrl: string,
	request: Pick<AuthorizationRequest, "client" | "redirectUri" | "state">,
	{ code, message }: OAuthError,
): BackLink {
	return {
		name: request.client.name,
		url: clientUrl(publicUrl, request, {
			error: code,
			error_description: message,
		}),
	};
}

/** Runs the handler of a page. If it rejects with an OAuthError or because of the database, shows that as a page. */
export async function asPage(run: () => Promise<Response>): Promise<Response> {
	try {
		return await run();
	} catch (error) {
		const { code, message } = toOAuthError(error);
		if (code !== "temporarily_unavailable")
			return errorPage({
				status: 400,
				title: "This request is not valid",
				text: message,
			});
		const response = errorPage({
			status: 503,
			title: "Not available right now",
			text: message,
		});
		response.headers.set("Retry-After", `${retryAfterSeconds}`);
		return response;
	}
}
