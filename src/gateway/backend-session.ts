// The gateway's one MCP session with a bot: opened when it is needed, replaced when the bot no longer knows it.
//
// A bot refuses a request in an unknown session before it runs anything, so only then a request is sent again, once.

import type { Signal } from "../lib/signal.ts";
import { raceSignal } from "../lib/wait.ts";
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
	/** Number of sessions opened so far. */
	generation = 0;
	/** The bot's version; undefined until a session was opened. */
	serverVersion: string | undefined;
	#current: ClientSession | undefined;
	#opening: Promise<ClientSession> | undefined;
	#closed = false;

	constructor(private readonly options: BackendSessionOptions) {}

	/** Whether a session is open, as far as the gateway knows. */
	get open(): boolean {
		return this.#current !== undefined;
	}

	/** Sends a request; once more in a new session if the bot does not know this one. Rejects with a ClientError. */
	async request(
		request: SessionRequest,
		signal: Signal,
	): Promise<ClientResponse> {
		const { client, onResent } = this.options;
		for (let isResent = false; ; isResent = true) {
			const opened = this.#get(signal);
			const session = opened instanceof Promise ? await opened : opened;
			try {
				const { method, params } = request;
				return await client.request(session, method, params, signal, request);
			} catch (error) {
				if (!(error instanceof SessionNotFound)) throw error;
				// The new session cannot be unknown: this is perhaps a tool's error that reads like it.
				if (isResent && error.response) return error.response;
				if (isResent) throw error;
			}
			onResent();
			// Of all calls in the lost session, the first one replaces it, and the others use the new one.
			if (this.#current === session) this.#current = undefined;
		}
	}

	/** The next request opens another session; calls in flight go on in this one. */
	leave(): void {
		this.#current = undefined;
	}

	/** Ends the session, so that the next request opens another. Never rejects: without it the bot lets the session expire. */
	async end(): Promise<void> {
		const session = this.#current;
		this.#current = undefined;
		if (!session?.id) return;
		const signal = AbortSignal.timeout(disconnectTimeoutMs);
		await this.options.client.disconnect(session, signal).catch(() => {});
	}

	/** Ends the session for good. Never rejects. */
	async close(): Promise<void> {
		this.#closed = true;
		// A session that is just being opened has to be ended, too.
		await this.#opening?.catch(() => {});
		await this.end();
	}

	/** The open session, or a new one. Concurrent calls share the new one. */
	#get(signal: Signal): ClientSession | Promise<ClientSession> {
		// The caller no longer waits for a session.
		if (signal.aborted) throw notBegun(signal);
		if (this.#closed)
			throw new ClientError("the gateway is stopping", "unsent");
		if (this.#current) return this.#current;
		this.#opening ??= this.#open().finally(() => {
			this.#opening = undefined;
		});
		return raceSignal(this.#opening, signal, notBegun);
	}

	async #open(): Promise<ClientSession> {
		try {
			// Not the first caller's signal: the other callers that wait for this session would fail with it.
			const signal = AbortSignal.timeout(handshakeTimeoutMs);
			const session = await this.options.client.connect(signal);
			this.#current = session;
			this.serverVersion = session.serverVersion;
			if (++this.generation > 1) this.options.onReplaced();
			return session;
		} catch (cause) {
			// However far the handshake got, the request that needed it was not sent.
			throw new ClientError((cause as Error).message, "unsent", { cause });
		}
	}
}

/** The error of a request that was aborted before it was sent, while it waited for a session or a check of the bot. */
export function notBegun({ reason }: Signal): ClientError {
	return new ClientError("timed out before the request was sent", "unsent", {
		cause: reason,
	});
}
