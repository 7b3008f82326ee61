// Reads a request body within limits of size and time, so that a client cannot exhaust memory or hold a connection.

import { within } from "./wait.ts";

export interface BodyLimits {
	/** Largest accepted body, with or without Content-Length. */
	maxBytes: number;
	/** Time for the whole body to arrive. */
	timeoutMs: number;
}

/** The whole body. Resolves with "too long" as soon as `maxBytes` is exceeded, with "late" after `timeoutMs`. */
export function readBody(
	request: Request,
	{ maxBytes, timeoutMs }: BodyLimits,
): Promise<Uint8Array | "too long" | "late"> {
	return within(timeoutMs, readAtMost(request, maxBytes));
}

async function readAtMost(
	request: Request,
	maxBytes: number,
): Promise<Uint8Array | "too long"> {
	const announced = request.headers.get("content-length");
	if (announced !== null)
		return Number(announced) > maxBytes ? "too long" : request.bytes();
	if (!request.body) return new Uint8Array();
	const chunks: Uint8Array[] = [];
	let length = 0;
	for await (const chunk of request.body) {
		length += chunk.length;
		if (length > maxBytes) return "too long";
		chunks.push(chunk);
	}
	return Buffer.concat(chunks);
}
