// An HTTP request and its response as callers see them, and a client that uses fetch.

import type { ByteBudget } from "./byte-budget.ts";
import { principalHeader } from "./principal.ts";
import { type Signal, toAbortSignal } from "./signal.ts";
import type { TraceContext } from "./trace-context.ts";

export interface HttpRequest {
	method: "GET" | "POST" | "DELETE";
	/** Sent as written; Host replaces that of the URL. Cached by object: do not change it after the first request. */
	headers: Readonly<Record<string, string>>;
	/** For logs; sent as X-Request-Id. */
	requestId?: string | undefined;
	/** The encoded principal, sent as X-Guildhall-Caller. */
	caller?: string | undefined;
	/** Sent as `traceparent` and `tracestate`. */
	trace?: TraceContext | undefined;
	body: string | undefined;
	/** The request fails if the response body is larger. */
	maxBodyBytes?: number | undefined;
}

export interface HttpResponse {
	status: number;
	headers: { get(name: string): string | null };
	/** Can be read once. Throws an HttpFailure if it is cut off or the signal aborts. */
	body: AsyncIterable<Uint8Array>;
	/** The whole body if there is a Content-Length. Not together with `body`. HttpFailure if cut off or aborted. */
	whole?(): Uint8Array | Promise<Uint8Array> | undefined;
	/** Ignores the rest of the body; closes the connection if it is incomplete. */
	discard(): void;
}

/** "unsent": no byte was written. "sent": the server may have executed it. "answered": the response had begun. */
export type Progress = "unsent" | "sent" | "answered";

/** No complete response arrived; the message tells an operator why. */
export class HttpFailure extends Error {
	override name = "HttpFailure";
	constructor(
		message: string,
		readonly progress: Progress,
		options?: ErrorOptions,
	) {
		super(message, options);
	}
}

/** One of the methods is called, once. They must not throw. */
export interface ResponseHandler {
	responded(response: HttpResponse): void;
	/** No response; `cause` is an HttpFailure, after an abort with the cause `signal.reason`. */
	failed(cause: unknown): void;
}

/** Sends a request. Reports to an object instead of a promise, which costs less. Never throws. */
export type Dispatch = (request: HttpRequest, signal: Signal, handler: ResponseHandler) => void;

/** The failure of a request whose response was dropped at the memory limit of unfinished responses. */
export function noRoom({ maxBytes }: ByteBudget): HttpFailure {
	return new HttpFailure(
		`dropped an HTTP response, because all unfinished responses together exceed ${maxBytes} bytes`,
		"answered",
	);
}

/** Uses `fetch`, with a new connection for each request. "unsent" only if no connection was made. */
export function createFetchDispatch(url: string, budget?: ByteBudget): Dispatch {
	const owner = {};
	const send = async (request: HttpRequest, signal: Signal): Promise<HttpResponse> => {
		const { method, headers, requestId, caller, trace, body, maxBodyBytes = Infinity } = request;
		if (signal.aborted) throw abortFailure(signal, "unsent");
		const own = new AbortController();
		const fail = (cause: unknown, progress: Progress) => {
			if (own.signal.aborted) throw own.signal.reason;
			if (signal.aborted) throw abortFailure(signal, progress);
			if (cause instanceof HttpFailure) throw cause;
			throw new HttpFailure(describeConnectionError(cause), progress, { cause });
		};
		async function* readBody({ body }: Response) {
			const overflow = (full: ByteBudget) => own.abort(noRoom(full));
			const holder = { owner, heldBytes: 0, overflow };
			let length = 0;
			try {
				for await (const chunk of body ?? []) {
					length += chunk.length;
					if (length > maxBodyBytes)
						throw new HttpFailure(`invalid HTTP response: the body is larger than ${maxBodyBytes} bytes`, "answered");
					budget?.hold(holder, chunk.length);
					yield chunk;
				}
			} catch (cause) {
				fail(cause, "answered");
			} finally {
				budget?.release(holder);
			}
		}
		const response = await fetch(url, {
			method,
			headers: {
				...headers,
				...(requestId && { "X-Request-Id": requestId }),
				...(caller && { [principalHeader]: caller }),
				...(trace?.traceparent && { traceparent: trace.traceparent }),
				...(trace?.tracestate && { tracestate: trace.tracestate }),
			},
			body: body ?? null,
			signal: AbortSignal.any([toAbortSignal(signal), own.signal]),
			// A redirect would send the token to another server.
			redirect: "manual",
			// A write could be lost on a connection that the server is just closing. A handshake for each GET would cost more.
			keepalive: method === "GET",
		}).catch((cause) => fail(cause, hadNoConnection(cause) ? "unsent" : "sent"));
		return {
			status: response.status,
			headers: response.headers,
			body: readBody(response),
			// Errors do not matter, since the rest of the body is not read.
			discard: () => void response.body?.cancel().catch(() => {}),
		};
	};
	return (request, signal, handler) =>
		void send(request, signal).then(
			(response) => handler.responded(response),
			(cause) => handler.failed(cause),
		);
}

function hadNoConnection(cause: unknown): boolean {
	const { code, syscall } = Object(cause) as NodeJS.ErrnoException;
	return code === "ECONNREFUSED" || syscall === "getaddrinfo";
}

export function abortFailure({ reason }: Signal, progress: Progress): HttpFailure {
	const late = reason instanceof Error && reason.name === "TimeoutError";
	return new HttpFailure(late ? "no response in time" : "cancelled", progress, { cause: reason });
}

/** For operators, since Bun's messages are written for programmers. */
export function describeConnectionError(cause: unknown): string {
	const { code, syscall } = Object(cause) as NodeJS.ErrnoException;
	if (syscall === "getaddrinfo") return "unknown host name";
	if (code === "ConnectionRefused" || code === "ECONNREFUSED") return "the connection was refused";
	if (code === "ECONNRESET" || code === "ConnectionClosed") return "the connection was lost";
	return cause instanceof Error ? cause.message : String(cause);
}
