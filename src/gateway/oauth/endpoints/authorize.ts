// The authorization endpoint: https://datatracker.ietf.org/doc/html/draft-ietf-oauth-v2-1-13#section-4.1.1
// It never redirects to the client: anyone can register one, to send people anywhere. What is wrong is shown on a
// page, for a valid redirect URI with a link. Only the consent form redirects.

import { said } from "../../../texts/texts.ts";
import type { OAuthClient } from "../clients/client-metadata.ts";
import { matchesRedirect } from "../clients/redirect-uris.ts";
import type { AuthorizationRequest } from "../grants/attempts.ts";
import { errorPage, redirect } from "../pages/page.ts";
import { accessAt, readResource } from "../protocol/metadata.ts";
import { OAuthError } from "../protocol/oauth-error.ts";
import { type Parameters, queryOf } from "../protocol/parameters.ts";
import { backLink, beginSignIn, languageFor, type OAuthContext } from "./context.ts";

const maxRequestLength = 8192;

export function createAuthorize(context: OAuthContext): (request: Request, address: () => string) => Promise<Response> {
	const { clients, publicUrl } = context;

	function readRequest(
		parameters: Parameters,
		{ id, name, signs }: OAuthClient,
		redirectUri: string,
		state: string | undefined,
	): AuthorizationRequest {
		refuseUnsupported(parameters);
		if (parameters.require("response_type") !== "code")
			throw new OAuthError("unsupported_response_type", "The response_type must be code.");
		if (parameters.get("code_challenge_method") !== "S256")
			throw new OAuthError("invalid_request", "PKCE is required: the code_challenge_method must be S256.");
		const codeChallenge = parameters.require("code_challenge");
		if (!/^[\w-]{43}$/.test(codeChallenge))
			throw new OAuthError("invalid_request", "The code_challenge must have 43 characters of base64url.");
		const resource = readResource(publicUrl, parameters.all("resource"));
		const access = accessAt(resource, parameters.get("scope"));
		return { client: { id, name, signs }, redirectUri, state, codeChallenge, resource, access };
	}

	return async (request, address) => {
		const parameters = queryOf(request);
		const client = await clients.findClient(parameters.require("client_id"), address());
		if (!client) throw new OAuthError("invalid_client", said("page.unknown-client"));
		const redirectUri = parameters.require("redirect_uri");
		if (!matchesRedirect(client.redirectUris, redirectUri))
			throw new OAuthError("invalid_request", said("page.unregistered-address"));
		const state = parameters.get("state");
		let wanted: AuthorizationRequest;
		try {
			wanted = readRequest(parameters, client, redirectUri, state);
		} catch (error) {
			if (!(error instanceof OAuthError)) throw error;
			const back = backLink(publicUrl, { client, redirectUri, state }, error);
			const page = { status: 400, title: said("page.invalid"), text: error.text, back };
			return errorPage(page, languageFor(request));
		}
		if (JSON.stringify(wanted).length > maxRequestLength)
			throw new OAuthError("invalid_request", said("page.too-long"));
		// Only now: requests that are refused do not keep people from signing in.
		const { url, cookie } = await beginSignIn(context, request, address(), wanted);
		return redirect(url, cookie);
	};
}

/**
 * Throws an OAuthError for parameters that ask to do something else than this server does, so that no client relies on
 * it. https://openid.net/specs/oauth-v2-multiple-response-types-1_0.html#ResponseModes,
 * https://openid.net/specs/openid-connect-core-1_0.html#AuthRequest
 */
function refuseUnsupported(parameters: Parameters): void {
	const mode = parameters.get("response_mode");
	if (mode !== undefined && mode !== "query")
		throw new OAuthError("invalid_request", "The response_mode must be query.");
	for (const name of ["request", "request_uri"] as const)
		if (parameters.get(name) !== undefined)
			throw new OAuthError(`${name}_not_supported`, `The parameter ${name} is not supported.`);
	if (parameters.get("prompt")?.split(" ").includes("none"))
		throw new OAuthError("login_required", "The prompt none is not supported: the person always signs in.");
}
