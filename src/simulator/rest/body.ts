// Reads request bodies, JSON or multipart, and the audit log reason.

import { keepLargeIntegers } from "../world/state/snowflake.ts";
import { apiError, formError } from "./errors.ts";

export interface Content {
	body: unknown;
	files: ReadonlyMap<string, Blob>;
}

const fileLimitBytes = 10 * 1024 * 1024;

// Deeper than anything Discord accepts, and shallow enough for JSON.stringify.
const depthLimit = 64;

/** JSON, or a form with JSON in its part `payload_json`. An empty body is {}. Throws Discord's error if invalid. */
export async function readBody(request: Request): Promise<Content> {
	const type = request.headers.get("content-type") ?? "";
	if (type.startsWith("multipart/form-data")) return readMultipart(request);
	const text = await request.text();
	if (text === "") return { body: {}, files: new Map() };
	if (!type.startsWith("application/json"))
		throw formError(
			"CONTENT_TYPE_INVALID",
			"Expected \"Content-Type\" header to be one of {'application/json', 'multipart/form-data'}.",
		);
	return { body: parse(text), files: new Map() };
}

/** Another body counts as an empty form: https://github.com/discord/discord-api-docs/issues/5249 */
export async function readForm(request: Request): Promise<Content> {
	const type = request.headers.get("content-type") ?? "";
	const text = await request.text();
	const isForm = /^application\/x-www-form-urlencoded\b/i.test(type);
	return { body: Object.fromEntries(new URLSearchParams(isForm ? text : "")), files: new Map() };
}

async function readMultipart(request: Request): Promise<Content> {
	const form = await request.formData().catch((cause: unknown) => {
		throw apiError("RequestBodyContainsInvalidJSON", { message: `The multipart body could not be read: ${cause}` });
	});
	const files = new Map<string, Blob>();
	for (const [name, value] of form) if (typeof value !== "string") files.set(name, value);
	for (const file of files.values()) if (file.size > fileLimitBytes) throw apiError("RequestEntityTooLarge");
	const payload = form.get("payload_json");
	return { body: typeof payload === "string" ? parse(payload) : {}, files };
}

function parse(text: string): unknown {
	let body: unknown;
	try {
		body = JSON.parse(text, keepLargeIntegers);
	} catch {
		throw apiError("RequestBodyContainsInvalidJSON");
	}
	if (isDeeper(body, depthLimit)) throw apiError("RequestBodyContainsInvalidJSON");
	return body;
}

function isDeeper(value: unknown, levels: number): boolean {
	if (typeof value !== "object" || value === null) return false;
	return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

/**
 * Reads the audit log reason of a request from its URL-encoded header. The reason may have 512 code points after
 * decoding; the libraries twilight-validate and serenity count in the same way.
 * https://docs.discord.com/developers/resources/audit-log#audit-log-entry-object
 * Discord refuses a longer reason (reason-length).
 */
export function readReason(request: Request): string | undefined {
	const encoded = request.headers.get("x-audit-log-reason");
	if (!encoded) return undefined;
	const reason = decodeReason(encoded);
	if ([...reason].length > 512)
		throw formError("BASE_TYPE_MAX_LENGTH", "Must be 512 or fewer in length.", "x-audit-log-reason");
	return reason;
}

function decodeReason(encoded: string): string {
	try {
		return decodeURIComponent(encoded);
	} catch {
		// A stray % is not URL-encoding: keep the text as it is.
		return encoded;
	}
}
