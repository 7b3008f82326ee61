// Requests and responses of the console's API: JSON, never cached, with the security headers of the pages.

import * as v from "valibot";
import { isObject, parseJson } from "../../lib/json.ts";
import { readBody } from "../../lib/program/listen.ts";
import { securityHeaders } from "../../pages/static-files.ts";
import { StoreUnavailable } from "../store/unavailable.ts";

const maxBodyBytes = 64 * 1024;
const bodyTimeoutMs = 10_000;
const noDatabase = "The gateway cannot reach its database. Try again later.";

const statusOf = {
	signed_out: 401,
	wrong_token: 401,
	origin: 403,
	csrf: 403,
	insecure: 403,
	forbidden: 403,
	invalid: 400,
	not_found: 404,
	method: 405,
	conflict: 409,
	too_large: 413,
	content_type: 415,
	too_many: 429,
	unavailable: 503,
} as const;

/** The page shows the message to the person unchanged. */
export class ConsoleError extends Error {
	override name = "ConsoleError";
	constructor(
		readonly code: keyof typeof statusOf,
		message: string,
		readonly retryAfterSeconds?: number,
	) {
		super(message);
	}
}

const headers = { ...securityHeaders, "Content-Type": "application/json", "Cache-Control": "no-store" };

export function jsonResponse(value: unknown, { status = 200, more = {} as Record<string, string> } = {}): Response {
	return new Response(JSON.stringify(value), { status, headers: { ...headers, ...more } });
}

/** Rethrows unexpected errors, which are bugs. */
export function errorResponse(error: unknown): Response {
	const isDown = error instanceof StoreUnavailable;
	const known = isDown ? new ConsoleError("unavailable", noDatabase, 5) : error;
	if (!(known instanceof ConsoleError)) throw error;
	const { code, message, retryAfterSeconds } = known;
	const body = { error: { code, message } };
	return jsonResponse(body, {
		status: statusOf[code],
		more: retryAfterSeconds === undefined ? {} : { "Retry-After": String(retryAfterSeconds) },
	});
}

const anyObject = v.record(v.string(), v.unknown());

/** Throws a ConsoleError unless it is a JSON object as application/json, which a form of another site cannot send. */
export async function readJson<Schema extends v.GenericSchema = typeof anyObject>(
	request: Request,
	schema: Schema | typeof anyObject = anyObject,
): Promise<v.InferOutput<Schema>> {
	const type = request.headers.get("content-type") ?? "";
	if (!/^application\/json\s*(;|$)/i.test(type))
		throw new ConsoleError("content_type", "Send the body with Content-Type: application/json.");
	const body = await readBody(request, maxBodyBytes, bodyTimeoutMs);
	if (body === "too long" || body === "late")
		throw new ConsoleError("too_large", "The request is too long or did not arrive in time.");
	const value = parseJson(new TextDecoder().decode(body));
	if (!isObject(value)) throw new ConsoleError("invalid", "The body is not a JSON object.");
	const result = v.safeParse(schema, value);
	if (result.success) return result.output;
	const issues = result.issues.map((issue) => `${v.getDotPath(issue) ?? "body"}: ${issue.message}`);
	throw new ConsoleError("invalid", issues.join("; ").slice(0, 1_000));
}
