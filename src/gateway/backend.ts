// One bot seen from here: its persistent MCP session, its state, and its recovery.
//
// A lost session is what the bot refused before it ran anything, so the call is sent once more in a new one. Any other
// failure may have happened after the bot acted, and nothing is sent twice.

import type { Log } from "../lib/log.ts";
import {
	type Client,
	ClientError,
	type ClientResponse,
	type ClientSession,
	createClient,
	SessionNotFound,
} from "../mcp/client.ts";
import { isObject } from "../mcp/json-rpc.ts";
import { readTools } from "./catalog.ts";
import type { Instance } from "./config.ts";
import { readGuilds } from "./guilds.ts";

/** How long opening a session may take, and how long a whole round of refresh. */
const handshakeTimeoutMs = 5_000;
/** A tools/list of more pages than this does not end. */
const maxPages = 100;
/** How much of a fault is shown. */
const maxReasonLength = 300;

export type BackendState = { online: true } | { online: false; reason: string };

export interface BackendOptions {
	instance: Instance;
	token: string;
	info: { name: string; version: string };
	log: Log;
}

export class Backend {
	readonly name: string;
	readonly url: string;
	/** The guilds that it serves, id → name, as last known: they outlive its going offline. */
	guilds: ReadonlyMap<string, string> = new Map();
	/** Its tools as last known, each as JSON text; undefined until it has answered once. */
	tools: readonly string[] | undefined;

	readonly #client: Client;
	readonly #log: Log;
	readonly #token: string;
	#state: BackendState = { online: false, reason: "not yet reached" };
	#session: ClientSession | undefined;
	#opening: Promise<ClientSession> | undefined;
	#closed = false;

	constructor({ instance, token, info, log }: BackendOptions) {
		this.name = instance.name;
		this.url = instance.url;
		this.#log = log;
		this.#token = token;
		this.#client = createClient({
			url: instance.endpoint,
			token,
			info,
			// Bots accept loopback names only, whatever name we reach them by.
			host: "localhost:9090",
		});
	}

	get state(): BackendState {
		return this.#state;
	}

	/**
	 * Forwards a `tools/call`; `params` is JSON text. Resolves with the bot's result or JSON-RPC error. Rejects with a
	 * ClientError that says how far the call got, or with the signal's reason.
	 */
	async call(params: string, signal: AbortSignal): Promise<ClientResponse> {
		try {
			const response = await this.#request("tools/call", params, signal);
			this.#setState({ online: true });
			return response;
		} catch (error) {
			if (error instanceof ClientError && error.reached === "unsent")
				this.#setOffline(error);
			throw error;
		}
	}

	/** Whether it answers a `tools/list` in time: that is what online means. Never rejects. */
	async check(timeoutMs: number): Promise<BackendState> {
		try {
			await this.#listTools("{}", AbortSignal.timeout(timeoutMs));
			this.#setState({ online: true });
		} catch (error) {
			this.#setOffline(error);
		}
		return this.#state;
	}

	/** Brings state, tools and guilds up to date, in a new session if need be. Never rejects. */
	async refresh(): Promise<void> {
		const signal = AbortSignal.timeout(handshakeTimeoutMs);
		try {
			this.tools = await this.#tools(signal);
			this.#setState({ online: true });
		} catch (error) {
			this.#setOffline(error);
			return;
		}
		try {
			const { message } = await this.#request(
				"tools/call",
				'{"name":"list_guilds","arguments":{}}',
				signal,
			);
			this.guilds = readGuilds(message);
		} catch (error) {
			this.#log.warn(`${this.name}: its guilds could not be listed`, {
				reason: this.#reasonOf(error),
			});
		}
	}

	/** Ends its session, for good. Never rejects. */
	async close(): Promise<void> {
		this.#closed = true;
		// One that is being opened is ours to end as well.
		await this.#opening?.catch(() => {});
		await this.#endSession(this.#session);
	}

	/** Never rejects: a session that is not ended runs out by itself. */
	async #endSession(session: ClientSession | undefined): Promise<void> {
		if (this.#session === session) this.#session = undefined;
		if (!session?.id) return;
		try {
			await this.#client.disconnect(session, AbortSignal.timeout(1_000));
		} catch (error) {
			this.#log.warn(`${this.name}: its session was not ended`, {
				reason: this.#reasonOf(error),
			});
		}
	}

	/** All its tools. A session that answers wrongly is given up for a new one, once. */
	async #tools(signal: AbortSignal): Promise<string[]> {
		const session = this.#session;
		try {
			return await this.#toolPages(signal);
		} catch (error) {
			if (!session || signal.aborted) throw error;
			void this.#endSession(session);
			return this.#toolPages(signal);
		}
	}

	async #toolPages(signal: AbortSignal): Promise<string[]> {
		const tools: string[] = [];
		let params = "{}";
		for (let page = 0; page < maxPages; page++) {
			const { text, result } = await this.#listTools(params, signal);
			tools.push(...readTools(text));
			const { nextCursor } = result;
			if (typeof nextCursor !== "string" || nextCursor === "") return tools;
			params = JSON.stringify({ cursor: nextCursor });
		}
		throw new ClientError(`tools/list has over ${maxPages} pages`, "refused");
	}

	async #listTools(params: string, signal: AbortSignal) {
		const { text, message } = await this.#request("tools/list", params, signal);
		if (isObject(message.result) && Array.isArray(message.result.tools))
			return { text, result: message.result };
		throw new ClientError(
			message.error === undefined
				? "tools/list was answered without a list of tools"
				: `tools/list was answered with an error: ${JSON.stringify(message.error)}`,
			"refused",
		);
	}

	/** Sends a request in the session; once more in a new one if the session turns out to be lost. */
	async #request(
		method: string,
		params: string,
		signal: AbortSignal,
	): Promise<ClientResponse> {
		const session = await this.#openSession(signal);
		try {
			return await this.#client.request(session, method, params, signal);
		} catch (error) {
			if (!(error instanceof SessionNotFound)) throw error;
		}
		// Whoever finds it lost first replaces it; the others find the new one.
		if (this.#session === session) {
			this.#log.info(`${this.name}: its session is lost, opening another`);
			this.#session = undefined;
		}
		const fresh = await this.#openSession(signal);
		try {
			return await this.#client.request(fresh, method, params, signal);
		} catch (error) {
			// In a session just opened, the words are not about the session: a tool may be called so.
			if (error instanceof SessionNotFound && error.response)
				return error.response;
			throw error;
		}
	}

	/** The session, opened if there is none. However many ask at once, one is opened. */
	async #openSession(signal: AbortSignal): Promise<ClientSession> {
		// Before anything is begun that nobody would wait for.
		signal.throwIfAborted();
		if (this.#closed)
			throw new ClientError("the gateway is stopping", "unsent");
		if (this.#session) return this.#session;
		this.#opening ??= this.#connect().finally(() => {
			this.#opening = undefined;
		});
		return abortable(this.#opening, signal);
	}

	async #connect(): Promise<ClientSession> {
		try {
			// Not under the first caller's signal: the others would fail with it.
			const signal = AbortSignal.timeout(handshakeTimeoutMs);
			this.#session = await this.#client.connect(signal);
			return this.#session;
		} catch (cause) {
			// Whatever became of the handshake, the call that needed it was not sent.
			throw new ClientError(this.#reasonOf(cause), "unsent", { cause });
		}
	}

	/** Why something failed, for people, on one line. Some of the words may be a bot's, and quote what we sent. */
	#reasonOf(error: unknown): string {
		if (!(error instanceof Error)) return String(error);
		if (error.name === "TimeoutError") return "no answer in time";
		return error.message
			.replaceAll(this.#token, "[token]")
			.slice(0, maxReasonLength)
			.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, " ");
	}

	#setOffline(error: unknown) {
		this.#setState({ online: false, reason: this.#reasonOf(error) });
	}

	#setState(state: BackendState) {
		const before = this.#state;
		this.#state = state;
		if (state.online && !before.online)
			this.#log.info(`${this.name} is online`);
		if (!state.online && before.online)
			this.#log.warn(`${this.name} is offline: ${state.reason}`);
	}
}

/** The promise's outcome, or the signal's reason if that comes first. */
async function abortable<T>(
	promise: Promise<T>,
	signal: AbortSignal,
): Promise<T> {
	const { promise: aborted, reject } = Promise.withResolvers<never>();
	const abort = () => reject(signal.reason);
	signal.addEventListener("abort", abort, { once: true });
	try {
		return await Promise.race([promise, aborted]);
	} finally {
		signal.removeEventListener("abort", abort);
	}
}
