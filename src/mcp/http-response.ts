// Builds HTTP responses: an event stream with the response, and notifications of progress before it, or plain JSON.

import { type EventStream, openEventStream } from "../lib/event-stream.ts";
import { usesFastPath } from "./fast/switch.ts";
import type { RpcResponse } from "./json-rpc.ts";
import { encodeMessage, type PreparedEvent } from "./sse.ts";

const sendsInOnePiece = usesFastPath("one-piece");
const maxPlainBytes = 15_000;

export const sseHeaders = {
	"Content-Type": "text/event-stream",
	"Cache-Control": "no-cache",
	"X-Accel-Buffering": "no",
};

// By the object that the headers are made from: making them costs more than sending them.
const madeHeaders = new WeakMap<object, Headers>();

/** For clients of revisions with sessions: `sessionId` goes into the header Mcp-Session-Id, and is always the same. */
export function respondEvent(
	{ event, headers = sseHeaders }: Extract<RpcResponse, { kind: "event" }>,
	sessionId: string | undefined,
): Response {
	let made = madeHeaders.get(headers);
	if (!made) {
		made = new Headers({ ...sseHeaders, ...headers, ...(sessionId && { "Mcp-Session-Id": sessionId }) });
		madeHeaders.set(headers, made);
	}
	const isLong = sendsInOnePiece && event.length > maxPlainBytes;
	return respond(200, isLong ? inOnePiece(event) : event, made);
}

export function respondList(list: PreparedEvent, requestHeaders: Headers, sessionId: string | undefined): Response {
	const gzip = acceptsGzip(requestHeaders.get("accept-encoding")) ? list.gzip() : undefined;
	return respond(200, gzip ?? list.plain(), {
		...sseHeaders,
		Vary: "Accept-Encoding",
		...(gzip && { "Content-Encoding": "gzip" }),
		...(sessionId && { "Mcp-Session-Id": sessionId }),
	});
}

/** Bun sends a stream in one piece, but other long bodies that are ready after an `await` in pieces of 2 KB. */
function inOnePiece(bytes: Uint8Array): ReadableStream {
	return new ReadableStream({
		start(controller) {
			controller.enqueue(bytes);
			controller.close();
		},
	});
}

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

/** Without `hasOAuth`, the text says that there is none: clients with a wrong token look for OAuth and show it. */
export function notFound({ hasOAuth = false } = {}): Response {
	const token = hasOAuth ? "" : " It takes a fixed bearer token (MCP_AUTH_TOKEN) and has no OAuth.";
	return new Response(`Not found. The MCP endpoint is /mcp.${token}\n`, { status: 404 });
}

/** One SSE event; `text` is JSON. */
export function frame(status: number, text: string, sessionId?: string, more?: Record<string, string>): Response {
	return respond(status, encodeMessage(text), {
		...sseHeaders,
		...more,
		...(sessionId && { "Mcp-Session-Id": sessionId }),
	});
}

export function json(status: number, text: string, more?: Record<string, string>): Response {
	return respond(status, text, { "Content-Type": "application/json", ...more });
}

export function respond(
	status: number,
	body: string | Uint8Array | ReadableStream | null,
	headers: Headers | Record<string, string>,
): Response {
	return new Response(body as Uint8Array<ArrayBuffer> | ReadableStream | string | null, { status, headers });
}

/** Not with q=0. A missing header or `*` does not name it. */
export function acceptsGzip(header: string | null): boolean {
	if (header === null) return false;
	return header.split(",").some((entry) => {
		const [coding = "", ...parameters] = entry.split(";");
		if (!/^\s*(x-)?gzip\s*$/i.test(coding)) return false;
		return !parameters.some((one) => /^\s*q\s*=\s*0(\.0*)?\s*$/i.test(one));
	});
}

/** An event stream if `work` sends notifications, otherwise `finish(response)`. */
export function streamResponse<Outcome extends RpcResponse | undefined>(
	work: (notify: (notification: string) => void) => Promise<Outcome>,
	finish: (response: Outcome) => Response,
): Promise<Response> {
	const { promise, resolve, reject } = Promise.withResolvers<Response>();
	let stream: EventStream | undefined;
	work((notification) => {
		if (!stream) {
			stream = openEventStream(sseHeaders, Number.POSITIVE_INFINITY);
			resolve(stream.response);
		}
		stream.send(encodeMessage(notification));
	}).then((response) => {
		if (!stream) return resolve(finish(response));
		if (response) stream.send(eventBytes(response));
		stream.close();
	}, reject);
	return promise;
}
