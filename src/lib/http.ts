// An HTTP request and its response as callers see them.

import type { Signal } from "./signal.ts";
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
	whole(): Uint8Array | Promise<Uint8Array> | undefined;
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
