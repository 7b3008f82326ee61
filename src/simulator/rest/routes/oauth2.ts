// Discord's OAuth2 for applications: exchanging codes for tokens, refreshing and revoking tokens. The page on which people
// authorize an application is in ../authorize-page.ts. Errors have the form of RFC 6749, not that of Discord's API.
// https://docs.discord.com/developers/topics/oauth2
//
// A gap: OAuth2 has no other scopes, grants without a code, public clients (without a secret), `prompt`, email
// addresses, or routes for people's clients, such as the list of authorized applications.

import type { Authorization } from "../../world/accounts/authorizations.ts";
import type { World } from "../../world/world.ts";
import { ApiError, notSimulated } from "../errors.ts";
import { type Field, unchecked } from "../fields/fields.ts";
import { type Call, route } from "../route.ts";

type Form = Readonly<Record<string, string>>;

const form = unchecked as Field<Form>;

type FormCall = Pick<Call<"", Form>, "world" | "body" | "authorizationHeader">;

const unsupportedGrants = new Set(["client_credentials", "urn:ietf:params:oauth:grant-type:device_code"]);

export const oauth2Routes = [
	route("POST /oauth2/token", {
		form: true,
		fleeting: true,
		body: form,
		run: (call) => tokenResponse(issueToken(call)),
	}),
	route("POST /oauth2/token/revoke", {
		form: true,
		fleeting: true,
		body: form,
		run: (call) => {
			const clientId = authenticateClient(call);
			const { token, token_type_hint: hint } = call.body;
			if (!token) throw oauthError("invalid_request");
			// https://github.com/discord/discord-api-docs/pull/6356
			if (hint && !["access_token", "refresh_token"].includes(hint)) throw oauthError("unsupported_token_type");
			// A guess (oauth2-revoke-unknown): an unknown token is no error.
			call.world.authorizations.revoke(token, clientId);
			return {};
		},
	}),
];

function issueToken(call: FormCall): Authorization {
	const { world, body } = call;
	const { authorizations } = world;
	const { grant_type } = body;
	// https://github.com/mattrasband/aiohttp-oauth2/issues/15
	if (grant_type !== undefined && unsupportedGrants.has(grant_type))
		throw notSimulated(`the OAuth2 grant ${grant_type}`);
	if (grant_type !== "authorization_code" && grant_type !== "refresh_token")
		throw oauthError("unsupported_grant_type", `Grant type ${grant_type ?? "None"} is not supported`);
	const clientId = authenticateClient(call);
	if (grant_type === "refresh_token") {
		const { refresh_token } = body;
		if (!refresh_token) throw oauthError("invalid_request", 'Missing "refresh_token" in request.');
		const known = authorizations.byRefreshToken(refresh_token, clientId);
		// https://github.com/discord/discord-api-docs/issues/5942
		if (!known) throw oauthError("invalid_grant");
		return authorizations.refresh(known);
	}
	const { code, redirect_uri, code_verifier } = body;
	// A guess (oauth2-missing-code): the error of a missing code.
	if (!code) throw oauthError("invalid_request", 'Missing "code" in request.');
	const accepted = authorizations.accepted(code);
	// https://github.com/reboxer/discord-oauth2/issues/92
	if (accepted?.clientId !== clientId) throw oauthError("invalid_grant", 'Invalid "code" in request.');
	// A guess (oauth2-redirect-uri): this error, and that the code remains valid.
	if (redirect_uri !== accepted.redirectUri) throw oauthError("invalid_grant", 'Invalid "redirect_uri" in request.');
	verifyChallenge(world, accepted.challenge, code_verifier);
	return authorizations.exchange(code, accepted);
}

/**
 * Throws unless the PKCE code verifier belongs to the code challenge. Does nothing if the application sent no challenge
 * when the person authorized it. https://docs.discord.food/topics/oauth2#pkce
 */
function verifyChallenge({ authorizations }: World, challenge: string | undefined, verifier: string | undefined): void {
	if (challenge === undefined) return;
	// https://github.com/pilcrowonpaper/arctic/issues/167
	if (!verifier) throw oauthError("invalid_request", 'Missing "code_verifier"');
	// https://github.com/discord/discord-api-docs/issues/5254
	if (!/^[\w.~-]{43,128}$/.test(verifier)) throw oauthError("invalid_request", 'Invalid "code_verifier"');
	// A guess (oauth2-verifier): the error of a verifier that does not belong to the challenge.
	if (!authorizations.isVerified(challenge, verifier)) throw oauthError("invalid_grant", "Code challenge failed.");
}

/**
 * Authenticates the application that sends an OAuth2 request, by client id and client secret from HTTP Basic
 * authentication or the form. Returns the client id; throws if the secret is wrong.
 * https://docs.discord.com/developers/topics/oauth2#authorization-code-grant
 */
function authenticateClient({ world, body, authorizationHeader }: FormCall): string {
	const [, encoded] = /^Basic (.+)$/i.exec(authorizationHeader) ?? [];
	const [id = "", secret = ""] = encoded
		? splitOnce(Buffer.from(encoded, "base64").toString(), ":")
		: [body.client_id, body.client_secret];
	if (world.authorizations.hasSecret(id, secret)) return id;
	// https://github.com/markbates/goth/issues/183
	throw oauthError("invalid_client", undefined, 401);
}

/** Client id and secret need no URL decoding, because they consist of URL-safe characters. */
function splitOnce(text: string, separator: string): [string, string] {
	const at = text.indexOf(separator);
	return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function tokenResponse(authorization: Authorization) {
	const { accessToken, refreshToken, scopes, expiresAt } = authorization;
	return {
		token_type: "Bearer",
		access_token: accessToken,
		expires_in: Math.max(0, Math.round((expiresAt - Date.now()) / 1000)),
		refresh_token: refreshToken,
		scope: scopes.join(" "),
	};
}

/** Creates an error response in OAuth2's format: https://www.rfc-editor.org/rfc/rfc6749#section-5.2 */
function oauthError(error: string, error_description?: string, status = 400) {
	return new ApiError(status, { error, ...(error_description && { error_description }) });
}
