// The revocation endpoint: clients end their tokens. Ending the refresh token ends the connection.
// https://www.rfc-editor.org/rfc/rfc7009

import { hashToken } from "../../keys/token.ts";
import { errorResponse, jsonResponse, OAuthError } from "../protocol/oauth-error.ts";
import { readForm } from "../protocol/parameters.ts";
import type { OAuthContext } from "./context.ts";

export function createRevocationEndpoint({ grants, log }: OAuthContext): (request: Request) => Promise<Response> {
	async function respond(request: Request): Promise<Response> {
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
			log.info("client ended its connection", {
				grant: grant.id,
				client: grant.client.name,
				person: grant.person.id,
			});
		}
		return jsonResponse({});
	}

	return async (request) => {
		try {
			return await respond(request);
		} catch (error) {
			return errorResponse(error);
		}
	};
}
