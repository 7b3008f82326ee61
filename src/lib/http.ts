// One HTTP exchange, as those see it who ask for it, whoever carries it out.

import type { ByteBudget } from "./byte-budget.ts";
import { type Signal, toAbortSignal } from "./signal.ts";

export interface HttpRequest {
	method: "POST" | "DELETE";
	/** Names as they go on the wire. A Host among them stands in for the URL's. The same object stands for the same headers. */
	headers: Readonly<Record<string, string>>;
	/** What the request is called in logs: it goes as X-Request-Id. */
	requestId?: string | undefined;
	body: string | undefined;
	/** Of the answer's body. A larger one fails the exchange. */
	maxBodyBytes?: number | undefined;
}

export interface HttpResponse {
	status: number;
	headers: { get(name: string): string | null };
	/** To be read once. It fails with an HttpFailure where it is cut off, or given up because the signal fires. */
	body: AsyncIterable<Uint8Array>;
	/** The whole body, where its length was announced: then `body` is not to be read any more. It fails as `body` does. */
	whole?(): Uint8Array | Promise<Uint8Array> | undefined;
	/** Nobody reads (the rest of) the body: a connection that is still busy with it is closed. */
	discard(): void;
}

/**
 * How far a request got that brought no whole answer: "unsent", no byte of it left; "sent", it was perhaps read and
 * perhaps carried out; "answered", its answer had begun.
 */
export type Progress = "unsent" | "sent" | "answered";

/** An exchange that brought no whole answer. The message says why, in words for an operator. */
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
 * Sends a request once, and resolves with the head of its answer. Rejects with an HttpFailure, also when the signal
 * fires, which covers the body as well; its cause is then the signal's reason.
 */
export type Send = (
	request: HttpRequest,
	signal: Signal,
) => Promise<HttpResponse>;

/** The failure of an exchange whose answer is larger than is read. */
export function tooLarge(maxBytes: number): HttpFailure {
	return new HttpFailure(
		`invalid response: body larger than ${maxBytes} bytes`,
		"answered",
	);
}

/** The failure of an exchange whose answer was the largest when there was no more room. */
export function noRoom({ maxBytes }: ByteBudget): HttpFailure {
	return new HttpFailure(
		`response dropped: unfinished responses exceed ${maxBytes} bytes`,
		"answered",
	);
}

/**
 * `fetch` to one URL, over a connection of its own for each request: over one that was kept, Bun may send a request again,
 * and say of it what became of the second attempt. Of how far a request got it knows whether there was a connection.
 * `budget` limits the answers that are on their way.
 */
export function createFetchSend(url: string, budget?: ByteBudget): Send {
	const owner = {};
	return async ({ method, headers, requestId, body, maxBodyBytes }, signal) => {
		if (signal.aborted) throw givenUp(signal, "unsent");
		const own = new AbortController();
		const fail = (cause: unknown, progress: Progress) => {
			if (own.signal.aborted) throw own.signal.reason;
			if (signal.aborted) throw givenUp(signal, progress);
			throw new HttpFailure(describeConnectionError(cause), progress, {
				cause,
			});
		};
		const response = await fetch(url, {
			method,
			headers: requestId ? { ...headers, "X-Request-Id": requestId } : headers,
			body: body ?? null,
			signal: AbortSignal.any([toAbortSignal(signal), own.signal]),
			// A redirect would carry the token to another place.
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
			// Its failing changes nothing: nobody reads on.
			discard: () => void response.body?.cancel().catch(() => {}),
		};
	};
}

/** Whether a `fetch` failed for want of a connection. */
function hadNoConnection(cause: unknown): boolean {
	const { code, syscall } = Object(cause) as NodeJS.ErrnoException;
	return code === "ECONNREFUSED" || syscall === "getaddrinfo";
}

/** What a request that was given up becomes. */
export function givenUp({ reason }: Signal, progress: Progress): HttpFailure {
	const late = reason instanceof Error && reason.name === "TimeoutError";
	const message = late ? "no answer in time" : "it was given up";
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

/** What happened to a connection, in words of ours: Bun's are for programmers. */
export function describeConnectionError(cause: unknown): string {
	const { code, syscall } = Object(cause) as NodeJS.ErrnoException;
	if (syscall === "getaddrinfo") return "the host name is not known";
	if (code === "ConnectionRefused" || code === "ECONNREFUSED")
		return "the connection was refused";
	if (code === "ECONNRESET" || code === "ConnectionClosed")
		return "the connection was lost";
	return cause instanceof Error ? cause.message : String(cause);
}
