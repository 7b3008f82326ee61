// Responses over HTTP: an event stream of one event, or plain JSON.

import { HeaderCache } from "./fast/header-cache.ts";
import { inOnePiece } from "./fast/one-piece.ts";
import type { PreparedEvent } from "./fast/tool-list.ts";
import type { RpcResponse } from "./server.ts";
import { encodeMessage } from "./sse.ts";

export const sseHeaders = {
	"Content-Type": "text/event-stream",
	"Cache-Control": "no-cache",
	"X-Accel-Buffering": "no",
};

const varyingHeaders = { Vary: "Accept-Encoding" };
const gzipHeaders = { ...varyingHeaders, "Content-Encoding": "gzip" };

/**
 * What makes an HTTP response of a server's response: one event, with this session id if there is one. Headers are made
 * once for each object that responses have as `headers`.
 */
export function createEventResponder(
	sessionId?: string,
): (response: RpcResponse, requestHeaders: Headers) => Response {
	const cache = new HeaderCache<object, Headers>();
	const withHeaders = (more: Record<string, string> = sseHeaders) =>
		cache.get(
			more,
			() =>
				new Headers({
					...sseHeaders,
					...more,
					...(sessionId && { "Mcp-Session-Id": sessionId }),
				}),
		);
	return (response, requestHeaders) => {
		if (response.kind === "text")
			return frame(200, response.text, sessionId, response.headers);
		if (response.kind === "event")
			return respond(
				200,
				inOnePiece(response.event),
				withHeaders(response.headers),
			);
		// Bun sends it in one piece: nothing was awaited.
		const { bytes, headers } = encoded(response.list, requestHeaders);
		return respond(200, bytes, withHeaders(headers));
	};
}

/** A server's response as the bytes of one event, not compressed. */
export function eventBytes(response: RpcResponse): Uint8Array {
	switch (response.kind) {
		case "text":
			return Buffer.from(encodeMessage(response.text));
		case "event":
			return response.event;
		case "list":
			return response.list.plain();
	}
}

/** An event in the form that the client accepts, and the headers that say so: the same object for the same form. */
function encoded(
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
 * 404 for an unknown path. A client with a wrong token looks for OAuth endpoints before it stops, and shows the text of
 * the last response.
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

/** Whether an Accept-Encoding asks for gzip. A missing header and `*` do not. */
export function acceptsGzip(header: string | null): boolean {
	if (header === null) return false;
	return header.split(",").some((entry) => {
		const [coding = "", ...parameters] = entry.split(";");
		if (!/^\s*(x-)?gzip\s*$/i.test(coding)) return false;
		return !parameters.some((one) => /^\s*q\s*=\s*0(\.0*)?\s*$/i.test(one));
	});
}
