// An HTTP request and its response as callers see them, and a client that uses fetch.

import type { ByteBudget } from "./byte-budget.ts";
import { type Signal, toAbortSignal } from "./signal.ts";

export interface HttpRequest {
	method: "POST" | "DELETE";
	/** Header names are sent as written. A Host replaces that of the URL. Headers are cached by this object. */
	headers: Readonly<Record<string, string>>;
	/** The id of the request in logs, sent as X-Request-Id. */
	requestId?: string | undefined;
	body: string | undefined;
	/** Limit of the response body in bytes. A larger one fails the request. */
	maxBodyBytes?: number | undefined;
}

export interface HttpResponse {
	status: number;
	headers: { get(name: string): string | null };
	/** The body, which can be read once. Throws an HttpFailure if it is cut off or the signal aborts. */
	body: AsyncIterable<Uint8Array>;
	/** The whole body, if its length was announced; then `body` must not be read. Fails as `body` does. */
	whole?(): Uint8Array | Promise<Uint8Array> | undefined;
	/** Ignores the rest of the body. Closes the connection if the body is incomplete. */
	discard(): void;
}

/**
 * How far a failed request got: "unsent", no byte was written; "sent", it may have been read and carried out; "answered",
 * its response has begun.
 */
export type Progress = "unsent" | "sent" | "answered";

/** A request without a complete response. The message says why, for an operator. */
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
 * Sends a request once. Resolves when the head of the response has arrived. Rejects with an HttpFailure, also when `signal`
 * aborts, which can cut off the body, too; its cause is then the reason of the signal.
 */
export type Send = (
	request: HttpRequest,
	signal: Signal,
) => Promise<HttpResponse>;

function tooLarge(maxBytes: number): HttpFailure {
	return new HttpFailure(
		`invalid response: body larger than ${maxBytes} bytes`,
		"answered",
	);
}

/** The failure of a request whose response was the largest when the budget was full. */
export function noRoom({ maxBytes }: ByteBudget): HttpFailure {
	return new HttpFailure(
		`response dropped: unfinished responses exceed ${maxBytes} bytes`,
		"answered",
	);
}

/**
 * Returns a client for one URL that uses `fetch`, with a new connection for each request: over a kept one Bun may send a
 * request twice and report only the second. A failure is "unsent" only if there was no connection. `budget` limits
 * unfinished responses.
 */
export function createFetchSend(url: string, budget?: ByteBudget): Send {
	const owner = {};
	return async (request, signal) => {
		const { method, headers, requestId, body } = request;
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
			headers: requestId ? { ...headers, "X-Request-Id": requestId } : headers,
			body: body ?? null,
			signal: AbortSignal.any([toAbortSignal(signal), own.signal]),
			// A redirect would send the token to another server.
			redirect: "manual",
			keepalive: false,
		}).catch((cause) =>
			fail(cause, hadNoConnection(cause) ? "unsent" : "sent"),
		);
		return {
			status: response.status,
			headers: response.headers,
			body: readBody(response),
			// Errors do not matter, since the rest of the body is not read.
			discard: () => void response.body?.cancel().catch(() => {}),
		};
	};
}

/** Whether `fetch` failed because it could not connect. */
function hadNoConnection(cause: unknown): boolean {
	const { code, syscall } = Object(cause) as NodeJS.ErrnoException;
	return code === "ECONNREFUSED" || syscall === "getaddrinfo";
}

/** The failure of a request whose signal has aborted. */
export function abortFailure(
	{ reason }: Signal,
	progress: Progress,
): HttpFailure {
	const late = reason instanceof Error && reason.name === "TimeoutError";
	const message = late ? "no response in time" : "cancelled";
	return new HttpFailure(message, progress, { cause: reason });
}

/** Describes an error of a connection for operators, since the messages of Bun are for programmers. */
export function describeConnectionError(cause: unknown): string {
	const { code, syscall } = Object(cause) as NodeJS.ErrnoException;
	if (syscall === "getaddrinfo") return "unknown host name";
	if (code === "ConnectionRefused" || code === "ECONNREFUSED")
		return "the connection was refused";
	if (code === "ECONNRESET" || code === "ConnectionClosed")
		return "the connection was lost";
	return cause instanceof Error ? cause.message : String(cause);
}
