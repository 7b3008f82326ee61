// The requestState of a question that the person at an MCP client answers: which call was asked about, and what was shown.
// It travels through the client, so it is authenticated. The client can read it: it holds hashes only.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr

import { createHmac, timingSafeEqual } from "node:crypto";
import * as v from "valibot";

const schema = v.strictObject({
	id: v.pipe(v.string(), v.regex(/^[0-9a-f]{12}$/)),
	expiresAt: v.number(),
	call: v.string(),
	plan: v.string(),
});

export type RequestState = v.InferOutput<typeof schema>;

const maxLength = 2_000;

/** With a message authentication code, so that only holders of `key` can create it. */
export function sealState(key: string, state: RequestState): string {
	const payload = Buffer.from(JSON.stringify(state)).toString("base64url");
	return `${payload}.${codeOf(key, payload)}`;
}

/** Undefined if it was not sealed with `key`. */
export function openState(key: string, text: string): RequestState | undefined {
	if (text.length > maxLength) return undefined;
	const at = text.indexOf(".");
	const payload = text.slice(0, Math.max(at, 0));
	const given = Buffer.from(text.slice(at + 1));
	const expected = Buffer.from(codeOf(key, payload));
	if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
	const json: unknown = JSON.parse(Buffer.from(payload, "base64url").toString());
	const parsed = v.safeParse(schema, json);
	return parsed.success ? parsed.output : undefined;
}

function codeOf(key: string, payload: string): string {
	return createHmac("sha256", key).update(`approval by the client: ${payload}`).digest("base64url");
}
