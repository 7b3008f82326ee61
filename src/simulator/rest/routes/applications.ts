// The bot's application, the URL of Discord's Gateway, and OAuth2: exchanging codes for tokens, and revoking tokens. The page on
// which people authorize an application is in ../authorize-page.ts. OAuth2's errors have the form of RFC 6749.
// https://docs.discord.com/developers/topics/oauth2
//
// A gap: OAuth2 has no other scope than `identify`, grants without a code, refreshing of tokens, public clients (without a
// secret), `prompt`, or routes for people's clients, such as the list of authorized applications. PKCE is not checked, and
// neither codes nor tokens expire.

import { socketUrl } from "../../socket/session.ts";
import { random } from "../../world/accounts/authorizations.ts";
import { applicationFlags } from "../../world/state/serialize.ts";
import { ApiError, notSimulated } from "../errors.ts";
import { type Field, unchecked } from "../fields/fields.ts";
import { type Call, route } from "../route.ts";

function application({ actor, world }: Call) {
	const { id } = actor.user;
	const flags = applicationFlags(actor);
	return {
		id,
		name: actor.user.username,
		type: null,
		icon: null,
		description: "",
		bot_public: true,
		bot_require_code_grant: false,
		verify_key: "0".repeat(64),
		flags,
		flags_new: String(flags),
		redirect_uris: world.authorizations.settings(id)?.redirectUris ?? [],
		interactions_endpoint_url: null,
		role_connections_verification_url: null,
		explicit_content_filter: 0,
		eligible_oauth2_scopes: ["bot", "applications.commands"],
		approximate_guild_count: [...world.guilds.values()].filter(({ members }) => members.has(id)).length,
		approximate_user_install_count: 0,
		approximate_user_authorization_count: 0,
		bot: actor.user,
		// Documented as optional. The OpenAPI document requires it, and discord.py and Oceanic cannot do without.
		owner: world.users.developer,
		team: null,
	};
}

type Form = Readonly<Record<string, string>>;

const form = unchecked as Field<Form>;

type FormCall = Pick<Call<"", Form>, "world" | "body" | "authorizationHeader">;

const expires_in = 604_800;

export const applicationRoutes = [
	route("GET /gateway", { withoutToken: true, run: ({ host }) => ({ url: socketUrl(host) }) }),
	route("GET /gateway/bot", {
		botsOnly: true,
		run: ({
			host,
			actor,
			world: {
				users: { sessionStarts },
				sharding,
			},
		}) => ({
			url: socketUrl(host),
			shards: sharding.recommended(actor.user.id),
			session_start_limit: {
				total: sessionStarts.total,
				remaining: sessionStarts.total - (sessionStarts.used.get(actor.user.id) ?? 0),
				reset_after: 86_400_000,
				max_concurrency: sharding.settings.maxConcurrency,
			},
		}),
	}),
	route("GET /applications/@me", { botsOnly: true, run: application }),
	route("GET /oauth2/applications/@me", { botsOnly: true, run: application }),
	route("POST /oauth2/token", {
		form: true,
		fleeting: true,
		body: form,
		run: (call) => {
			const access_token = issueToken(call);
			return { token_type: "Bearer", access_token, expires_in, refresh_token: random(), scope: "identify" };
		},
	}),
	route("POST /oauth2/token/revoke", {
		form: true,
		fleeting: true,
		body: form,
		run: (call) => {
			const clientId = authenticateClient(call);
			const { token } = call.body;
			if (!token) throw oauthError("invalid_request");
			// A guess (oauth2-revoke-unknown): an unknown token is no error.
			call.world.authorizations.revoke(token, clientId);
			return {};
		},
	}),
];

function issueToken(call: FormCall): string {
	const { authorizations } = call.world;
	const { grant_type = "None", code, redirect_uri } = call.body;
	if (grant_type === "refresh_token") throw notSimulated("refreshing of OAuth2 tokens");
	// https://github.com/mattrasband/aiohttp-oauth2/issues/15
	if (grant_type !== "authorization_code")
		throw oauthError("unsupported_grant_type", `Grant type ${grant_type} is not supported`);
	const clientId = authenticateClient(call);
	// A guess (oauth2-missing-code): the error of a missing code.
	if (!code) throw oauthError("invalid_request", 'Missing "code" in request.');
	const accepted = authorizations.codes.get(code);
	// https://github.com/reboxer/discord-oauth2/issues/92
	if (accepted?.clientId !== clientId) throw oauthError("invalid_grant", 'Invalid "code" in request.');
	// A guess (oauth2-redirect-uri): this error, and that the code remains valid.
	if (redirect_uri !== accepted.redirectUri) throw oauthError("invalid_grant", 'Invalid "redirect_uri" in request.');
	return authorizations.exchange(code, accepted);
}

/**
 * Authenticates the application that sends an OAuth2 request, by client id and client secret from HTTP Basic
 * authentication or the form. Returns the client id; throws if the secret is wrong.
 * https://docs.discord.com/developers/topics/oauth2#authorization-code-grant
 */
function authenticateClient({ world, body, authorizationHeader }: FormCall): string {
	const [, encoded] = /^Basic (.+)$/i.exec(authorizationHeader) ?? [];
	// Client id and secret need no URL decoding, because they consist of URL-safe characters.
	const [id = "", secret = ""] = encoded
		? Buffer.from(encoded, "base64").toString().split(/:(.*)/s)
		: [body.client_id, body.client_secret];
	if (secret !== "" && world.authorizations.settings(id)?.clientSecret === secret) return id;
	// https://github.com/markbates/goth/issues/183
	throw oauthError("invalid_client", undefined, 401);
}

/** Creates an error response in OAuth2's format: https://www.rfc-editor.org/rfc/rfc6749#section-5.2 */
function oauthError(error: string, error_description?: string, status = 400) {
	return new ApiError(status, { error, error_description });
}
