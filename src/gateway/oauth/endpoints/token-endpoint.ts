// The token endpoint exchanges codes and refresh tokens for tokens; at the revocation endpoint clients end their tokens.
// https://datatracker.ietf.org/doc/html/draft-ietf-oauth-v2-1-13#section-3.2

import { hashToken, kindOfToken } from "../../keys/token.ts";
import { isDocumentId } from "../clients/client-metadata.ts";
import {
	accessLifetimeMs,
	type Grant,
	type Redemption,
	type Refusal,
	type StoredToken,
	type Tokens,
} from "../grants/grants.ts";
import { guildsOf } from "../people/rights.ts";
import { readAssertion } from "../protocol/assertion.ts";
import { accessOf, paths, readResource, scopeOf } from "../protocol/metadata.ts";
import { jsonResponse, OAuthError } from "../protocol/oauth-error.ts";
import { type Parameters, readForm } from "../protocol/parameters.ts";
import type { OAuthContext } from "./context.ts";

const refusals: Record<Refusal, string> = {
	unknown: "The code or token is unknown or has expired.",
	mismatch: "The code was issued for another request.",
	replayed: "The code was used before. The connection has been ended.",
	reused: "The refresh token was used before. The connection has been ended.",
};

type Requester = Required<Pick<Redemption, "clientId" | "authenticate">>;

export function createTokenEndpoint(context: OAuthContext) {
	const { clients, grants, log, publicUrl, takeChallenge } = context;
	const audiences = [publicUrl, publicUrl + paths.token];

	function resourceOf(form: Parameters) {
		const values = form.all("resource");
		return values.length > 0 ? readResource(publicUrl, values) : undefined;
	}

	async function exchangeCode(form: Parameters, requester: Requester): Promise<Tokens | Refusal> {
		const codeVerifier = form.require("code_verifier");
		if (!/^[\w.~-]{43,128}$/.test(codeVerifier))
			throw new OAuthError("invalid_request", "The code_verifier must have 43 to 128 unreserved characters.");
		const outcome = await grants.redeem(form.require("code"), {
			...requester,
			redirectUri: form.get("redirect_uri"),
			codeVerifier,
			resource: resourceOf(form),
		});
		if (outcome === "replayed") log.warn("ended a connection: its authorization code was used twice");
		if (typeof outcome === "object") log.info("connected a client for a person", fieldsOf(outcome));
		return outcome;
	}

	async function refresh(form: Parameters, { clientId, authenticate }: Requester): Promise<Tokens | Refusal> {
		const given = form.require("refresh_token");
		const token = kindOfToken(given) && (await grants.findToken(hashToken(given)));
		if (token?.kind !== "refresh") return "unknown";
		const { grant } = token;
		if (grant.client.id !== clientId) return "mismatch";
		await authenticate(grant.client);
		if (token.isReused) {
			await grants.end(grant.id);
			return reused(token);
		}
		const resource = resourceOf(form);
		if (resource !== undefined && resource !== grant.resource)
			throw new OAuthError("invalid_target", "The refresh token was issued for another resource.");
		// Version 1 of the MCP SDK answers a challenge for more scope with a refresh, which cannot give more, and asks the person
		// only if the refresh fails: https://github.com/modelcontextprotocol/typescript-sdk/issues/2255
		if (takeChallenge(`grant:${grant.id}`))
			throw new OAuthError("server_error", "A call needs more scope than this refresh token can give.");
		const access = accessOf(form.get("scope"), grant.access);
		await checkRights(token);
		// Only now: while a bot is offline, the client keeps its refresh token.
		const outcome = await grants.rotate(token, access);
		return outcome === "reused" ? reused(token) : outcome;
	}

	function reused({ grant }: StoredToken): Refusal {
		log.warn("ended a connection: its refresh token was used twice", fieldsOf({ grant }));
		return "reused";
	}

	/** Rejects with an OAuthError if the person may no longer sign in, or a bot that could allow it does not answer. */
	async function checkRights({ grant }: StoredToken): Promise<void> {
		try {
			const denied = "refused to refresh tokens: the person may not sign in for any guild now";
			await guildsOf(grant.person, context, denied, fieldsOf({ grant }));
		} catch (error) {
			if (!(error instanceof OAuthError) || error.code !== "access_denied") throw error;
			throw new OAuthError("invalid_grant", error.message);
		}
	}

	return async (request: Request, address: () => string): Promise<Response> => {
		const form = await readForm(request);
		const type = form.require("grant_type");
		if (type !== "authorization_code" && type !== "refresh_token")
			throw new OAuthError("unsupported_grant_type", "The grant_type must be authorization_code or refresh_token.");
		const assertion = readAssertion(form, audiences);
		// It is optional in signed requests (RFC 7521, section 4.2).
		const clientId = form.get("client_id") ?? assertion?.sub ?? form.require("client_id");
		const authenticate = (client: Grant["client"]) => clients.authenticate(client, assertion, address());
		const outcome = await (type === "refresh_token" ? refresh : exchangeCode)(form, { clientId, authenticate });
		const id = outcome === "unknown" ? clientId : "";
		if (id !== "" && !isDocumentId(id) && !(await clients.findClient(id)))
			throw new OAuthError("invalid_client", "The client is not registered.");
		if (typeof outcome === "string") throw new OAuthError("invalid_grant", refusals[outcome]);
		return jsonResponse({
			access_token: outcome.accessToken,
			token_type: "Bearer",
			expires_in: accessLifetimeMs / 1000,
			refresh_token: outcome.refreshToken,
			scope: scopeOf(outcome.access),
		});
	};
}

/** https://www.rfc-editor.org/rfc/rfc7009. Ending the refresh token ends the connection. */
export function createRevocationEndpoint({ grants, log }: OAuthContext): (request: Request) => Promise<Response> {
	return async (request) => {
		const form = await readForm(request);
		const token = hashToken(form.require("token"));
		const clientId = form.get("client_id");
		const stored = await grants.findToken(token);
		// RFC 7009, section 2.2: an unknown token is no error.
		if (!stored) return jsonResponse({});
		const { grant, kind } = stored;
		// Clients are public, so that the token itself is the proof; another client's id is a mistake.
		if (clientId !== undefined && clientId !== grant.client.id)
			throw new OAuthError("invalid_grant", "The token was issued to another client.");
		if (kind === "access") await grants.endToken(token);
		else {
			await grants.end(grant.id);
			log.info("client ended its connection", { grant: grant.id, client: grant.client.name, person: grant.person.id });
		}
		return jsonResponse({});
	};
}

function fieldsOf({ grant }: Pick<Tokens, "grant">) {
	const { id, client, person, access, resource } = grant;
	return { grant: id, client: client.name, person: person.id, access, resource };
}
