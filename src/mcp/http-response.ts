// Messages as HTTP responses: an event stream of one frame, plain JSON, or an event that is there already.

import { acceptsGzip } from "../lib/gzip.ts";
import { encodeMessage } from "./sse.ts";
import type { PreparedEvent } from "./tool-list.ts";

export const sseHeaders = {
	"Content-Type": "text/event-stream",
	"Cache-Control": "no-cache",
	"X-Accel-Buffering": "no",
};

const varyingHeaders = { Vary: "Accept-Encoding" };
const gzipHeaders = { ...varyingHeaders, "Content-Encoding": "gzip" };

/** An event in the form that the client asks for, and the headers that say so: the same objects for the same form. */
export function encoded(
	event: PreparedEvent,
	requestHeaders: Headers,
): { bytes: Uint8Array; headers: Record<string, string> } {
	const gzip = acceptsGzip(requestHeaders.get("accept-encoding"))
		? event.gzip()
		: undefined;
	return gzip
		? { bytes: gzip, headers: gzipHeaders }
		: { bytes: event.plain(), headers: varyingHeaders };
}

/**
 * 404 for a path that we do not have. A client whose token is wrong looks for OAuth before it gives up, and shows the
 * text of the last answer.
 */
export function notFound(): Response {
	return new Response(
		"Not found. The MCP endpoint is /mcp. It takes a fixed bearer token (MCP_AUTH_TOKEN) and has no OAuth.\n",
		{ status: 404 },
	);
}

/** One message as the one event of a stream. */
export function frame(
	status: number,
	text: string,
	sessionId?: string,
	more?: Record<string, string>,
): Response {
	return respond(status, encodeMessage(text), {
		...sseHeaders,
		...more,
		...(sessionId && { "Mcp-Session-Id": sessionId }),
	});
}

export function json(
	status: number,
	text: string,
	more?: Record<string, string>,
): Response {
	const headers = { "Content-Type": "application/json", ...more };
	return respond(status, text, headers);
}

/** Above this Bun sends what it is given after a wait in pieces of 2 KB, with a system call each; a stream it does not. */
const maxPlainBytes = 15_000;

/** A body that leaves in one piece: of 48 KB that takes a quarter of the time. */
export function inOnePiece(bytes: Uint8Array): Uint8Array | ReadableStream {
	if (bytes.length <= maxPlainBytes) return bytes;
	return new ReadableStream({
		start(controller) {
			controller.enqueue(bytes);
			controller.close();
		},
	});
}

export function respond(
	status: number,
	body: string | Uint8Array | ReadableStream | null,
	headers: Headers | Record<string, string>,
): Response {
	return new Response(
		body as Uint8Array<ArrayBuffer> | ReadableStream | string | null,
		{
			status,
			headers,
		},
	);
}
