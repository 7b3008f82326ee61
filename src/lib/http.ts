// An HTTP request and its response as callers see them, and a client that uses fetch.

import type { ByteBudget } from "./byte-budget.ts";
import { principalHeader } from "./principal.ts";
import { type Signal, toAbortSignal } from "./signal.ts";
import type { TraceContext } from "./trace-context.ts";

export interface HttpRequest {
	method: "POST" | "DELETE";
	/**
	 * HTTP headers. Names are sent as written; a Host header replaces the host of the URL. Encoded headers are cached by
	 * object, so do not change the object after the first request.
	 */
	headers: Readonly<Record<string, string>>;
	/** The id that identifies the request in logs, sent to the server as X-Request-Id. */
	requestId?: string | undefined;
	/** The encoded principal of the request, sent to the server as X-Guildhall-Caller. */
	caller?: string | undefined;
	/** The trace of the request, sent to the server as `traceparent` and `tracestate`. */
	trace?: TraceContext | undefined;
	body: string | undefined;
	/** Limit of the response body in bytes. The request fails if the response body is larger. */
	maxBodyBytes?: number | undefined;
}

export interface HttpResponse {
	status: number;
	headers: { get(name: string): string | null };
	/**
	 * The response body, which can be read once. Reading throws an HttpFailure if the body is cut off or the request's
	 * signal aborts.
	 */
	body: AsyncIterable<Uint8Array>;
	/**
	 * Returns the whole response body if the response has a Content-Length, otherwise undefined. Must not be combined
	 * with reading the property `body`. Fails with an HttpFailure if the body is cut off or the request is aborted.
	 */
	whole?(): Uint8Array | Promise<Uint8Array> | undefined;
	/** Ignores the rest of the response body. Closes the connection if the body is incomplete. */
	discard(): void;
}

/**
 * How far an HTTP request got before it failed. "unsent": no byte was written. "sent": the server may have read and
 * executed the request. "answered": the response had begun.
 */
export type Progress = "unsent" | "sent" | "answered";

/** Thrown when an HTTP request gets no complete response. The message tells an operator why. */
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

/**
 * Sends an HTTP request once. Resolves when the response's status and headers have arrived. Rejects with an
 * HttpFailure; if `signal` aborted, the failure's cause is `signal.reason`. An abort also cuts off the response body.
 */
export type Send = (request: HttpRequest, signal: Signal) => Promise<HttpResponse>;

/** Receives the outcome of an HTTP request: one of its methods is called, once. They must not throw. */
export interface ResponseHandler {
	/** Called when the response's status and headers have arrived. */
	responded(response: HttpResponse): void;
	/** Called if no response arrives, with what `Send` would reject with. */
	failed(cause: unknown): void;
}

/** Sends an HTTP request like `Send`, but reports to an object instead of a promise, which costs less. Never throws. */
export type Dispatch = (request: HttpRequest, signal: Signal, handler: ResponseHandler) => void;

function tooLarge(maxBytes: number): HttpFailure {
	return new HttpFailure(`invalid HTTP response: the body is larger than ${maxBytes} bytes`, "answered");
}

/**
 * Returns the failure of an HTTP request whose response was dropped because unfinished responses reached their memory
 * limit.
 */
export function noRoom({ maxBytes }: ByteBudget): HttpFailure {
	return new HttpFailure(
		`dropped an HTTP response, because all unfinished responses together exceed ${maxBytes} bytes`,
		"answered",
	);
}

/**
 * Returns an HTTP client for one URL that uses `fetch`, with a new connection for each request. `budget` limits the
 * memory of unfinished responses. The errors say that a request was "unsent" only if no connection was made.
 */
export function createFetchSend(url: string, budget?: ByteBudget): Send {
	const owner = {};
	return async (request, signal) => {
		const { method, headers, requestId, caller, trace, body } = request;
		const { maxBodyBytes = Number.POSITIVE_INFINITY } = request;
		if (signal.aborted) throw abortFailure(signal, "unsent");
		const own = new AbortController();
		const fail = (cause: unknown, progress: Progress) => {
			if (own.signal.aborted) throw own.signal.reason;
			if (signal.aborted) throw abortFailure(signal, progress);
			if (cause instanceof HttpFailure) throw cause;
			const message = describeConnectionError(cause);
			throw new HttpFailure(message, progress, { cause });
		};
		async function* readBody({ body }: Response) {
			const overflow = (full: ByteBudget) => own.abort(noRoom(full));
			const holder = { owner, heldBytes: 0, overflow };
			let length = 0;
			try {
				for await (const chunk of body ?? []) {
					length += chunk.length;
					if (length > maxBodyBytes) throw tooLarge(maxBodyBytes);
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
			keepalive: false,
		}).catch((cause) => fail(cause, hadNoConnection(cause) ? "unsent" : "sent"));
		return {
			status: response.status,
			headers: response.headers,
			body: readBody(response),
			// Errors do not matter, since the rest of the body is not read.
			discard: () => void response.body?.cancel().catch(() => {}),
		};
	};
}

/** Whether `fetch` failed because it could not connect to the server. `cause` is the error that `fetch` threw. */
function hadNoConnection(cause: unknown): boolean {
	const { code, syscall } = Object(cause) as NodeJS.ErrnoException;
	return code === "ECONNREFUSED" || syscall === "getaddrinfo";
}

/** Returns the failure of an HTTP request whose abort signal has aborted, because of a timeout or a cancellation. */
export function abortFailure({ reason }: Signal, progress: Progress): HttpFailure {
	const late = reason instanceof Error && reason.name === "TimeoutError";
	const message = late ? "no response in time" : "cancelled";
	return new HttpFailure(message, progress, { cause: reason });
}

/** Describes a connection error for operators, since Bun's error messages are written for programmers. */
export function describeConnectionError(cause: unknown): string {
	const { code, syscall } = Object(cause) as NodeJS.ErrnoException;
	if (syscall === "getaddrinfo") return "unknown host name";
	if (code === "ConnectionRefused" || code === "ECONNREFUSED") return "the connection was refused";
	if (code === "ECONNRESET" || code === "ConnectionClosed") return "the connection was lost";
	return cause instanceof Error ? cause.message : String(cause);
}
