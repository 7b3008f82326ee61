// The parameters of an OAuth request, in a query or a form.
// https://www.rfc-editor.org/rfc/rfc6749#section-3.1

import { readBody } from "../../../lib/program/listen.ts";
import { OAuthError, type OAuthErrorCode } from "./oauth-error.ts";

const maxBodyBytes = 16 * 1024;
const bodyTimeoutMs = 10_000;
const maxValueLength = 4096;

export type Parameters = ReturnType<typeof parametersOf>;

function parametersOf(params: URLSearchParams) {
	/** Throws an OAuthError if a value is too long. */
	const all = (name: string) => {
		const values = params.getAll(name).filter((value) => value !== "");
		if (values.some((value) => value.length > maxValueLength))
			throw new OAuthError("invalid_request", `${name} is too long.`);
		return values;
	};
	/** Undefined if absent or empty. Throws an OAuthError if it occurs twice or is too long. */
	const get = (name: string) => {
		const [value, second] = all(name);
		if (second !== undefined) throw new OAuthError("invalid_request", `${name} occurs twice.`);
		return value;
	};
	return {
		all,
		get,
		/** Throws an OAuthError if it is absent, empty or too long, or occurs twice. */
		require(name: string): string {
			const value = get(name);
			if (value === undefined) throw new OAuthError("invalid_request", `${name} is missing.`);
			return value;
		},
	};
}

export function queryOf(request: Request): Parameters {
	return parametersOf(new URL(request.url).searchParams);
}

/** Rejects with an OAuthError if the body is no form, is too long, or takes more than 10 s to arrive. */
export async function readForm(request: Request): Promise<Parameters> {
	const text = await readText(request, "application/x-www-form-urlencoded", "invalid_request");
	return parametersOf(new URLSearchParams(text));
}

/** Rejects with an OAuthError if the body is of another media type, is too long, or takes more than 10 s to arrive. */
export async function readText(request: Request, mediaType: string, code: OAuthErrorCode): Promise<string> {
	const [given = ""] = (request.headers.get("content-type") ?? "").split(";");
	if (given.trim().toLowerCase() !== mediaType) throw new OAuthError(code, `The Content-Type must be ${mediaType}.`);
	const body = await readBody(request, maxBodyBytes, bodyTimeoutMs);
	if (body === "too long" || body === "late") throw new OAuthError(code, `The body is ${body}.`);
	return new TextDecoder().decode(body);
}
