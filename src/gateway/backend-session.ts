// The one MCP session with a bot: opened when it is needed, replaced in place when the bot has lost it.
//
// A lost session is what the bot refused before it ran anything, so that request is sent once more in a new one.
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

/** How long opening a session may take. */
export const handshakeTimeoutMs = 5_000;
const goodbyeTimeoutMs = 1_000;

/** A request to send in the session. */
export interface SessionRequest extends RequestOptions {
	method: "tools/call" | "tools/list";
	/** JSON text. */
	params: string;
}

export interface BackendSessionOptions {
	client: Client;
	/** Is told that a session was opened in the place of a lost one. */
	onReplaced(): void;
	/** Is told that a request is sent again, in a new session. */
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

	/** How many sessions were opened so far; the current one is the last of them. */
	get generation(): number {
		return this.#generation;
	}

	/** What the bot says of its version; undefined until it has. */
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
		// However many calls ran into it: the first replaces the session, the others find the new one.
		if (this.#current === session) this.#current = undefined;
		const fresh = await this.#get(signal);
		try {
			return await this.#send(fresh, request, signal);
		} catch (error) {
			// In a session just opened, the words are not about the session: a tool may be called so.
			if (error instanceof SessionNotFound && error.response)
				return error.response;
			throw error;
		}
	}

	/** Leaves the session to the calls that are under way in it: the next request opens another. */
	leave(): void {
		this.#current = undefined;
	}

	/** Ends the session, so that the next request opens another. Never rejects: one that is not ended runs out by itself. */
	async end(): Promise<void> {
		const session = this.#current;
		this.#current = undefined;
		if (!session?.id) return;
		const signal = AbortSignal.timeout(goodbyeTimeoutMs);
		await this.#options.client.disconnect(session, signal).catch(() => {});
	}

	/** Ends the session for good. Never rejects. */
	async close(): Promise<void> {
		this.#closed = true;
		// One that is being opened is ours to end as well.
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

	/** The session, opened if there is none. However many ask at once, one is opened. */
	#get(signal: Signal): ClientSession | Promise<ClientSession> {
		// Before anything is begun that nobody would wait for.
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
			// Not under the first caller's signal: the others would fail with it.
			const signal = AbortSignal.timeout(handshakeTimeoutMs);
			const session = await this.#options.client.connect(signal);
			this.#current = session;
			this.#serverVersion = session.serverVersion;
			this.#generation++;
			if (this.#generation > 1) this.#options.onReplaced();
			return session;
		} catch (cause) {
			// Whatever became of the handshake, the request that needed it was not sent.
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
