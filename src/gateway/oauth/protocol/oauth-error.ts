// Errors of the OAuth endpoints, and the JSON responses of those that programs call.

import { render, type Said, said } from "../../../texts/texts.ts";
import { StoreUnavailable } from "../../store/unavailable.ts";

/** Of RFC 6749 (OAuth 2.0), RFC 7591 (registration), RFC 8707 (invalid_target) and OpenID Connect Core, section 3.1.2.6. */
export type OAuthErrorCode =
	| "access_denied"
	| "invalid_client"
	| "invalid_client_metadata"
	| "invalid_grant"
	| "invalid_redirect_uri"
	| "invalid_request"
	| "invalid_scope"
	| "invalid_target"
	| "login_required"
	| "request_not_supported"
	| "request_uri_not_supported"
	| "server_error"
	| "temporarily_unavailable"
	| "unsupported_grant_type"
	| "unsupported_response_type";

interface ErrorResponse {
	status: number;
	retryAfterSeconds?: number;
}

const responses: Partial<Record<OAuthErrorCode, ErrorResponse>> = {
	invalid_client: { status: 401 },
	server_error: { status: 500 },
	temporarily_unavailable: { status: 503, retryAfterSeconds: 5 },
};

/** The client receives the message in English. `text` is what people read on a page. */
export class OAuthError extends Error {
	override name = "OAuthError";
	constructor(
		readonly code: OAuthErrorCode,
		readonly text: string | Said,
		readonly response: ErrorResponse = responses[code] ?? { status: 400 },
	) {
		super(typeof text === "string" ? text : render(text, "en"));
	}
}

const noStore = { "Cache-Control": "no-store", Pragma: "no-cache" };

/** Never cached, as RFC 6749 (section 5.1) demands. */
export function jsonResponse(body: unknown, status = 200): Response {
	return Response.json(body, { status, headers: noStore });
}

/** Also to a database that is unavailable. Default: JSON (RFC 6749, section 5.2). Throws unexpected errors: bugs. */
export function errorResponse(error: unknown, respond: (error: OAuthError) => Response = errorJson): Response {
	const known = toOAuthError(error);
	const { retryAfterSeconds } = known.response;
	const response = respond(known);
	if (retryAfterSeconds !== undefined) response.headers.set("Retry-After", `${retryAfterSeconds}`);
	return response;
}

function errorJson({ code, message, response: { status } }: OAuthError): Response {
	// RFC 6749 allows neither quotes nor backslashes, nor characters that are not ASCII.
	return jsonResponse({ error: code, error_description: message.replace(/[^ !#-[\]-~]/g, "'") }, status);
}

function toOAuthError(error: unknown): OAuthError {
	if (error instanceof OAuthError) return error;
	if (!(error instanceof StoreUnavailable)) throw error;
	// The store has logged why: not again for each request that anybody can send.
	return new OAuthError("temporarily_unavailable", said("page.no-database"));
}
