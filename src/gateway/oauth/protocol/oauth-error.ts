// Errors of the OAuth endpoints, and the JSON responses of those that programs call.

import { StoreUnavailable } from "../../store/unavailable.ts";

/** Of RFC 6749 (OAuth 2.0), RFC 8707 (invalid_target) and OpenID Connect Core, section 3.1.2.6. */
export type OAuthErrorCode =
	| "access_denied"
	| "invalid_client"
	| "invalid_grant"
	| "invalid_request"
	| "invalid_scope"
	| "invalid_target"
	| "login_required"
	| "request_not_supported"
	| "request_uri_not_supported"
	| "temporarily_unavailable"
	| "unsupported_grant_type"
	| "unsupported_response_type";

/** The client receives the message, which must be ASCII without quotes. */
export class OAuthError extends Error {
	override name = "OAuthError";
	constructor(
		readonly code: OAuthErrorCode,
		message: string,
	) {
		super(message);
	}
}

const noStore = { "Cache-Control": "no-store", Pragma: "no-cache" };
/** After a failure for a temporary reason, such as an unavailable database. */
export const retryAfterSeconds = 5;

/** Never cached, as RFC 6749 (section 5.1) demands. */
export function jsonResponse(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
	return Response.json(body, { status, headers: { ...noStore, ...headers } });
}

/** RFC 6749, section 5.2. Rethrows unexpected errors, which are bugs. */
export function errorResponse(error: unknown): Response {
	const known = toOAuthError(error);
	const body = { error: known.code, error_description: known.message };
	if (known.code === "temporarily_unavailable")
		return jsonResponse(body, 503, { "Retry-After": `${retryAfterSeconds}` });
	return jsonResponse(body, known.code === "invalid_client" ? 401 : 400);
}

/** Rethrows unexpected errors, which are bugs. */
export function toOAuthError(error: unknown): OAuthError {
	if (error instanceof OAuthError) return error;
	if (!(error instanceof StoreUnavailable)) throw error;
	// The store has logged why: not again for each request that anybody can send.
	return new OAuthError("temporarily_unavailable", "The server cannot reach its database. Try again later.");
}
