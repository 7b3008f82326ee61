// Builds HTTP responses: an event stream of one event, or plain JSON.

import { HeaderCache } from "./fast/header-cache.ts";
import { inOnePiece } from "./fast/one-piece.ts";
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
 * Returns a function that turns an RpcResponse into an HTTP response with one SSE event. If `sessionId` is given, each
 * HTTP response has it in the header Mcp-Session-Id.
 */
export function createEventResponder(sessionId?: string): (response: RpcResponse, requestHeaders: Headers) => Response {
	const cache = new HeaderCache(
		(more: Record<string, string>) =>
			new Headers({
				...sseHeaders,
				...more,
				...(sessionId && { "Mcp-Session-Id": sessionId }),
			}),
	);
	return (response, requestHeaders) => {
		if (response.kind === "text") return frame(200, response.text, sessionId, response.headers);
		if (response.kind === "event") {
			const headers = cache.get(response.headers ?? sseHeaders);
			return respond(200, inOnePiece(response.event), headers);
		}
		const { list } = response;
		const isGzip = acceptsGzip(requestHeaders.get("accept-encoding"));
		const gzip = isGzip ? list.gzip() : undefined;
		const headers = cache.get(gzip ? gzipHeaders : varyingHeaders);
		// Nothing was awaited, so Bun sends the body in one piece.
		return respond(200, gzip ?? list.plain(), headers);
	};
}

/** Returns an MCP response as the bytes of one uncompressed SSE event. */
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

/**
 * Returns a 404 response for an unknown path. Without `hasOAuth`, its text says that the server has no OAuth but uses a
 * fixed bearer token, because MCP clients whose token is wrong look for OAuth endpoints and then show this text.
 */
export function notFound({ hasOAuth = false } = {}): Response {
	const token = hasOAuth ? "" : " It takes a fixed bearer token (MCP_AUTH_TOKEN) and has no OAuth.";
	const text = `Not found. The MCP endpoint is /mcp.${token}\n`;
	return new Response(text, { status: 404 });
}

/** Returns an HTTP response whose body is an event stream with one SSE event. `text` is the JSON text of the event. */
export function frame(status: number, text: string, sessionId?: string, more?: Record<string, string>): Response {
	return respond(status, encodeMessage(text), {
		...sseHeaders,
		...more,
		...(sessionId && { "Mcp-Session-Id": sessionId }),
	});
}

export function json(status: number, text: string, more?: Record<string, string>): Response {
	const headers = { "Content-Type": "application/json", ...more };
	return respond(status, text, headers);
}

export function respond(
	status: number,
	body: string | Uint8Array | ReadableStream | null,
	headers: Headers | Record<string, string>,
): Response {
	return new Response(body as Uint8Array<ArrayBuffer> | ReadableStream | string | null, { status, headers });
}

/** Whether an Accept-Encoding header names gzip (and not with q=0). A missing header or `*` does not name it. */
export function acceptsGzip(header: string | null): boolean {
	if (header === null) return false;
	return header.split(",").some((entry) => {
		const [coding = "", ...parameters] = entry.split(";");
		if (!/^\s*(x-)?gzip\s*$/i.test(coding)) return false;
		return !parameters.some((one) => /^\s*q\s*=\s*0(\.0*)?\s*$/i.test(one));
	});
}
