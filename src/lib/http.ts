// One HTTP exchange, as those see it who ask for it, whoever carries it out.

import { type Signal, toAbortSignal } from "./signal.ts";

export interface HttpRequest {
	method: "POST" | "DELETE";
	/** Names as they go on the wire. A Host among them stands in for the URL's. The same object stands for the same headers. */
	headers: Readonly<Record<string, string>>;
	/** What the request is called in logs: it goes as X-Request-Id. */
	requestId?: string | undefined;
	body: string | undefined;
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

/**
 * `fetch` to one URL, over a connection of its own for each request: over one that was kept, Bun may send a request again,
 * and say of it what became of the second attempt. Of how far a request got it knows whether there was a connection.
 */
export function createFetchSend(url: string): Send {
	return async ({ method, headers, requestId, body }, signal) => {
		if (signal.aborted) throw givenUp(signal, "unsent");
		const fail = (cause: unknown, progress: Progress) => {
			if (signal.aborted) throw givenUp(signal, progress);
			throw new HttpFailure(describeFault(cause), progress, { cause });
		};
		const response = await fetch(url, {
			method,
			headers: requestId ? { ...headers, "X-Request-Id": requestId } : headers,
			body: body ?? null,
			signal: toAbortSignal(signal),
			// A redirect would carry the token to another place.
			redirect: "manual",
			keepalive: false,
		}).catch((cause) =>
			fail(cause, hadNoConnection(cause) ? "unsent" : "sent"),
		);
		return {
			status: response.status,
			headers: response.headers,
			body: readBody(response, (cause) => fail(cause, "answered")),
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

/** What happened to a connection, in words of ours: Bun's are for programmers. */
export function describeFault(cause: unknown): string {
	const { code, syscall } = Object(cause) as NodeJS.ErrnoException;
	if (syscall === "getaddrinfo") return "the host name is not known";
	if (code === "ConnectionRefused" || code === "ECONNREFUSED")
		return "the connection was refused";
	if (code === "ECONNRESET" || code === "ConnectionClosed")
		return "the connection was lost";
	return cause instanceof Error ? cause.message : String(cause);
}
