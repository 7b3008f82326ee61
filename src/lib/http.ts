// One HTTP exchange from the view of its caller, over fetch or another client.

import type { ByteBudget } from "./byte-budget.ts";
import { type Signal, toAbortSignal } from "./signal.ts";

export interface HttpRequest {
	method: "POST" | "DELETE";
	/** Names as sent. A Host among them replaces the URL's. Use the same object for the same headers: they are cached by it. */
	headers: Readonly<Record<string, string>>;
	/** Its id in logs, sent as X-Request-Id. */
	requestId?: string | undefined;
	body: string | undefined;
	/** A larger response body fails the exchange. */
	maxBodyBytes?: number | undefined;
}

export interface HttpResponse {
	status: number;
	headers: { get(name: string): string | null };
	/** Read it once. It fails with an HttpFailure if it is cut off or the signal fires. */
	body: AsyncIterable<Uint8Array>;
	/** The whole body, if its length was announced: then `body` must not be read any more. It fails as `body` does. */
	whole?(): Uint8Array | Promise<Uint8Array> | undefined;
	/** Drops the rest of the body: a connection that is still busy with it is closed. */
	discard(): void;
}

/**
 * How far a failed request got: "unsent", no byte of it left; "sent", it was perhaps read and carried out; "answered", its
 * response had begun.
 */
export type Progress = "unsent" | "sent" | "answered";

/** An exchange without a complete response. The message says why, for an operator. */
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
 * Sends a request once, and resolves when the head of its response is there. Rejects with an HttpFailure, also when the
 * signal fires, which covers the body as well; its cause is then the signal's reason.
 */
export type Send = (
	request: HttpRequest,
	signal: Signal,
) => Promise<HttpResponse>;

/** The failure of an exchange whose response is too large. */
export function tooLarge(maxBytes: number): HttpFailure {
	return new HttpFailure(
		`invalid response: body larger than ${maxBytes} bytes`,
		"answered",
	);
}

/** The failure of an exchange whose response was the largest when the budget was full. */
export function noRoom({ maxBytes }: ByteBudget): HttpFailure {
	return new HttpFailure(
		`response dropped: unfinished responses exceed ${maxBytes} bytes`,
		"answered",
	);
}

/**
 * `fetch` to one URL, with a new connection for each request: over a kept one Bun may send a request twice, and report
 * only the second attempt. A failure is "unsent" only if there was no connection. `budget` limits unfinished responses.
 */
export function createFetchSend(url: string, budget?: ByteBudget): Send {
	const owner = {};
	return async ({ method, headers, requestId, body, maxBodyBytes }, signal) => {
		if (signal.aborted) throw abortFailure(signal, "unsent");
		const own = new AbortController();
		const fail = (cause: unknown, progress: Progress) => {
			if (own.signal.aborted) throw own.signal.reason;
			if (signal.aborted) throw abortFailure(signal, progress);
			throw new HttpFailure(describeConnectionError(cause), progress, {
				cause,
			});
		};
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
			body: limitBody(
				readBody(response, (cause) => fail(cause, "answered")),
				{ owner, budget, maxBodyBytes, abort: (cause) => own.abort(cause) },
			),
			// Errors do not matter: nobody reads on.
			discard: () => void response.body?.cancel().catch(() => {}),
		};
	};
}

/** Whether a `fetch` failed because it got no connection. */
function hadNoConnection(cause: unknown): boolean {
	const { code, syscall } = Object(cause) as NodeJS.ErrnoException;
	return code === "ECONNREFUSED" || syscall === "getaddrinfo";
}

/** The failure of a request whose signal has fired. */
export function abortFailure(
	{ reason }: Signal,
	progress: Progress,
): HttpFailure {
	const late = reason instanceof Error && reason.name === "TimeoutError";
	const message = late ? "no answer in time" : "cancelled";
	return new HttpFailure(message, progress, { cause: reason });
}

async function* readBody({ body }: Response, fail: (cause: unknown) => never) {
	if (!body) return;
	try {
		yield* body;
	} catch (cause) {
		fail(cause);
	}
}

interface BodyLimits {
	owner: object;
	budget: ByteBudget | undefined;
	maxBodyBytes: number | undefined;
	/** Ends the exchange, whose body fails for this cause. */
	abort(cause: HttpFailure): void;
}

async function* limitBody(
	body: AsyncIterable<Uint8Array>,
	{ owner, budget, maxBodyBytes = Number.POSITIVE_INFINITY, abort }: BodyLimits,
) {
	const holder = {
		owner,
		heldBytes: 0,
		overflow: (full: ByteBudget) => abort(noRoom(full)),
	};
	let length = 0;
	try {
		for await (const chunk of body) {
			length += chunk.length;
			if (length > maxBodyBytes) throw tooLarge(maxBodyBytes);
			budget?.hold(holder, chunk.length);
			yield chunk;
		}
	} finally {
		budget?.release(holder);
	}
}

/** What happened to a connection, for operators: Bun's own messages are for programmers. */
export function describeConnectionError(cause: unknown): string {
	const { code, syscall } = Object(cause) as NodeJS.ErrnoException;
	if (syscall === "getaddrinfo") return "the host name is not known";
	if (code === "ConnectionRefused" || code === "ECONNREFUSED")
		return "the connection was refused";
	if (code === "ECONNRESET" || code === "ConnectionClosed")
		return "the connection was lost";
	return cause instanceof Error ? cause.message : String(cause);
}
