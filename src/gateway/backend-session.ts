// The one MCP session with a bot: opened when it is needed, replaced when the bot has lost it.
//
// A bot refuses a request in a lost session before it runs anything, so the request is sent once more in a new one.
// Nothing else is sent again here.

import type { Signal } from "../lib/signal.ts";
import {
	type Client,
	ClientError,
	type ClientResponse,
	type ClientSession,
	type RequestOptions,
	SessionNotFound,
} from "../mcp/client.ts";

/** Timeout of opening a session. */
export const handshakeTimeoutMs = 5_000;
const disconnectTimeoutMs = 1_000;

/** A request to send in the session. */
export interface SessionRequest extends RequestOptions {
	method: "tools/call" | "tools/list";
	/** JSON text. */
	params: string;
}

export interface BackendSessionOptions {
	client: Client;
	/** Called when a session has replaced a lost one. */
	onReplaced(): void;
	/** Called when a request is sent again, in a new session. */
	onResent(): void;
}

export class BackendSession {
	readonly #options: BackendSessionOptions;
	#current: ClientSession | undefined;
	#serverVersion: string | undefined;
	#opening: Promise<ClientSession> | undefined;
	#generation = 0;
	#closed = false;

	constructor(options: BackendSessionOptions) {
		this.#options = options;
	}

	/** How many sessions were opened so far. */
	get generation(): number {
		return this.#generation;
	}

	/** The bot's version; undefined until a session was opened. */
	get serverVersion(): string | undefined {
		return this.#serverVersion;
	}

	/** Whether one is open, as far as is known. */
	get open(): boolean {
		return this.#current !== undefined;
	}

	/** Sends a request; once more in a new session if this one turns out to be lost. Rejects with a ClientError. */
	async request(
		request: SessionRequest,
		signal: Signal,
	): Promise<ClientResponse> {
		const opened = this.#get(signal);
		const session = opened instanceof Promise ? await opened : opened;
		try {
			return await this.#send(session, request, signal);
		} catch (error) {
			if (!(error instanceof SessionNotFound)) throw error;
		}
		this.#options.onResent();
		// Of all calls that found it lost, the first replaces the session, and the others use the new one.
		if (this.#current === session) this.#current = undefined;
		const fresh = await this.#get(signal);
		try {
			return await this.#send(fresh, request, signal);
		} catch (error) {
			// In a session just opened, the error is not about the session but perhaps about a tool of that name.
			if (error instanceof SessionNotFound && error.response)
				return error.response;
			throw error;
		}
	}

	/** The next request opens another session; calls in flight go on in this one. */
	leave(): void {
		this.#current = undefined;
	}

	/** Ends the session, so that the next request opens another. Never rejects: an unended session expires by itself. */
	async end(): Promise<void> {
		const session = this.#current;
		this.#current = undefined;
		if (!session?.id) return;
		const signal = AbortSignal.timeout(disconnectTimeoutMs);
		await this.#options.client.disconnect(session, signal).catch(() => {});
	}

	/** Ends the session for good. Never rejects. */
	async close(): Promise<void> {
		this.#closed = true;
		// A session that is being opened has to be ended, too.
		await this.#opening?.catch(() => {});
		await this.end();
	}

	#send(
		session: ClientSession,
		request: SessionRequest,
		signal: Signal,
	): Promise<ClientResponse> {
		const { method, params } = request;
		const { client } = this.#options;
		return client.request(session, method, params, signal, request);
	}

	/** The session, opened if there is none. Concurrent calls open one. */
	#get(signal: Signal): ClientSession | Promise<ClientSession> {
		// Nobody would wait for the session.
		if (signal.aborted) throw notBegun(signal);
		if (this.#closed)
			throw new ClientError("the gateway is stopping", "unsent");
		if (this.#current) return this.#current;
		this.#opening ??= this.#open().finally(() => {
			this.#opening = undefined;
		});
		return untilAborted(this.#opening, signal);
	}

	async #open(): Promise<ClientSession> {
		try {
			// Not with the first caller's signal: the other callers would fail with it.
			const signal = AbortSignal.timeout(handshakeTimeoutMs);
			const session = await this.#options.client.connect(signal);
			this.#current = session;
			this.#serverVersion = session.serverVersion;
			this.#generation++;
			if (this.#generation > 1) this.#options.onReplaced();
			return session;
		} catch (cause) {
			// However far the handshake got, the request that needed it was not sent.
			throw new ClientError((cause as Error).message, "unsent", { cause });
		}
	}
}

function notBegun({ reason }: Signal): ClientError {
	return new ClientError("no session could be opened in time", "unsent", {
		cause: reason,
	});
}

/** The promise's outcome, or a ClientError that says "unsent" if the signal fires before. */
export async function untilAborted<T>(
	promise: Promise<T>,
	signal: Signal,
): Promise<T> {
	const { promise: aborted, reject } = Promise.withResolvers<never>();
	const abort = () => reject(notBegun(signal));
	signal.addEventListener("abort", abort);
	try {
		return await Promise.race([promise, aborted]);
	} finally {
		signal.removeEventListener("abort", abort);
	}
}
