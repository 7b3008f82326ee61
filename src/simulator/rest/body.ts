// What a request carries: its JSON or multipart body, and the reason for the audit log.

import { RESTJSONErrorCodes as Code } from "discord.js";
import { fieldFault, refusal } from "./errors.ts";

export interface Content {
	readonly body: unknown;
	/** By the names of their parts. */
	readonly files: ReadonlyMap<string, Blob>;
}

/** Discord allows 10 MiB a file to guilds without boosts. */
const fileLimitBytes = 10 * 1024 * 1024;

// Deeper than anything Discord accepts, and shallow enough to be written out again.
const depthLimit = 64;

/** Reads a body: JSON, or a form whose part `payload_json` is JSON. No body counts as an empty object. */
export async function readBody(request: Request): Promise<Content> {
	const type = request.headers.get("content-type") ?? "";
	if (type.startsWith("multipart/form-data")) return readForm(request);
	const text = await request.text();
	if (text === "") return { body: {}, files: new Map() };
	if (!type.startsWith("application/json"))
		throw fieldFault(
			"CONTENT_TYPE_INVALID",
			"Expected \"Content-Type\" header to be one of {'application/json', 'multipart/form-data'}.",
		);
	return { body: parse(text), files: new Map() };
}

async function readForm(request: Request): Promise<Content> {
	const form = await request.formData().catch((cause: unknown) => {
		throw refusal(Code.RequestBodyContainsInvalidJSON, {
			message: `The multipart body could not be read: ${cause}`,
		});
	});
	const files = new Map<string, Blob>();
	for (const [name, value] of form)
		if (typeof value !== "string") files.set(name, value);
	for (const file of files.values())
		if (file.size > fileLimitBytes) throw refusal(Code.RequestEntityTooLarge);
	const payload = form.get("payload_json");
	return { body: typeof payload === "string" ? parse(payload) : {}, files };
}

function parse(text: string): unknown {
	let body: unknown;
	try {
		body = JSON.parse(text);
	} catch {
		throw refusal(Code.RequestBodyContainsInvalidJSON);
	}
	if (isDeeper(body, depthLimit))
		throw refusal(Code.RequestBodyContainsInvalidJSON);
	return body;
}

function isDeeper(value: unknown, levels: number): boolean {
	if (typeof value !== "object" || value === null) return false;
	return (
		levels === 0 ||
		Object.values(value).some((inner) => isDeeper(inner, levels - 1))
	);
}

/** The reason for the audit log, which comes URL-encoded. */
export function readReason(request: Request): string | undefined {
	const encoded = request.headers.get("x-audit-log-reason");
	if (!encoded) return undefined;
	if (encoded.length > 512)
		throw fieldFault(
			"BASE_TYPE_MAX_LENGTH",
			"Must be 512 or fewer in length.",
			"x-audit-log-reason",
		);
	try {
		return decodeURIComponent(encoded);
	} catch {
		// A stray % is no encoding: the text stands for itself.
		return encoded;
	}
}
