// One bot as the gateway sees it: its tools and guilds, and the calls to it.
//
// Before a call is sent to a bot that may be offline, the bot has to respond, so that the call does not end with an unknown
// outcome: to a new session if it was offline, to a tools/list if the last call got no response.
//
// A call is sent again only if it cannot have been carried out or changes nothing: a request in a lost session
// (backend-session.ts), one of which no byte was written, and once a tool that only reads.

import { ByteBudget } from "../lib/byte-budget.ts";
import { createFetchSend, type Send } from "../lib/http.ts";
import type { Log } from "../lib/log.ts";
import { Semaphore } from "../lib/semaphore.ts";
import type { Signal } from "../lib/signal.ts";
import { onOneLine } from "../lib/text.ts";
import { raceSignal, singleFlight } from "../lib/wait.ts";
import {
	ClientError,
	type ClientResponse,
	createClient,
} from "../mcp/client.ts";
import { isObject, type JsonObject } from "../mcp/json-rpc.ts";
import { BackendHealth, type BackendState } from "./backend-health.ts";
import {
	BackendSession,
	handshakeTimeoutMs,
	notBegun,
	type SessionRequest,
} from "./backend-session.ts";
import {
	type DroppedTool,
	type ListedTool,
	type OfferedTools,
	readTools,
} from "./catalog.ts";
import type { Instance } from "./config.ts";
import { readGuilds } from "./guilds.ts";
import { HttpClient } from "./http/http-client.ts";
import type { BackendMetrics } from "./metrics.ts";
import type { Pins } from "./pins.ts";
import { describeDropped } from "./status.ts";

const refreshTimeoutMs = handshakeTimeoutMs;
const checkTimeoutMs = 2_000;
/** How long a call waits for one of the places in flight. */
const maxQueueMs = 2_000;
/** Connections in addition to those for calls: for refreshes, checks and cancellations. */
const spareConnections = 8;
/** Limits of a bot's tools/list. Further tools and pages are ignored. */
const maxPages = 100;
const maxTools = 500;
/** Limit in bytes of all pages of a tools/list together, and of each response to a request of the gateway itself. */
const maxOwnBytes = 2 * 1024 * 1024;
/** Limit of the unfinished responses of all bots together. A single response has at most 16 MiB. */
export const maxUnfinishedBytes = 64 * 1024 * 1024;
const maxReasonLength = 300;

export interface BackendOptions {
	instance: Instance;
	token: string;
	info: { name: string; version: string };
	maxInFlight: number;
	metrics: BackendMetrics;
	/** Limit shared by the unfinished responses of all backends. Default: one for this backend alone. */
	budget?: ByteBudget;
	log: Log;
	/** Called when the state, tools or guilds of the bot may have changed. */
	onChange(): void;
	/** Returns a function that sends requests to `endpoint`. Default: http-client.ts, and `fetch` for https. */
	connect?: ((endpoint: string, budget: ByteBudget) => Send) | undefined;
}

/** A call to forward. */
export interface ForwardedCall extends SessionRequest {
	method: "tools/call";
	/** The name of the tool in `params`. */
	tool: string;
}

export class Backend {
	readonly name: string;
	readonly url: string;
	readonly pins: Pins;
	/** HTTP headers of every response to a call to this bot; always the same object, since headers are cached by it. */
	readonly responseHeaders: Record<string, string>;
	/** The guilds that the bot serves, id → name. Kept while it is offline. */
	guilds: ReadonlyMap<string, string> = new Map();
	/** Guilds that the bot lists although they are pinned to other instances. */
	ignoredGuilds: readonly string[] = [];
	/** The tools of the bot, kept while it is offline; undefined until its first response. */
	tools: readonly ListedTool[] | undefined;
	/** Tools of the bot that the gateway does not list. */
	dropped: readonly DroppedTool[] = [];
	readonly health: BackendHealth;
	readonly session: BackendSession;
	readonly #http: HttpClient | undefined;
	readonly #inFlight: Semaphore;
	readonly #options: BackendOptions;
	readonly #loggedGuilds = new Set<string>();

	/** Checks the state: the bot is online if it answers a `tools/list` within 2 s. Concurrent checks are one. Never rejects. */
	readonly check = singleFlight(() => this.#check());
	/** Updates state, tools and guilds within 5 s, in a new session if necessary. Concurrent refreshes are one. Never rejects. */
	readonly refresh = singleFlight(() =>
		this.#refresh().finally(() => this.#options.onChange()),
	);

	constructor(options: BackendOptions) {
		const { instance, token, info, maxInFlight, metrics, log } = options;
		const { budget = new ByteBudget(maxUnfinishedBytes) } = options;
		this.name = instance.name;
		this.url = instance.url;
		this.pins = instance;
		this.responseHeaders = { "X-Mcp-Instance": instance.name };
		this.#options = options;
		this.#inFlight = new Semaphore({
			max: maxInFlight,
			maxWaiting: maxInFlight,
			maxWaitMs: maxQueueMs,
		});
		const url = instance.endpoint;
		const { connect = createFetchSend } = options;
		if (url.startsWith("http:") && !options.connect)
			this.#http = new HttpClient({
				url,
				maxConnections: maxInFlight + spareConnections,
				budget,
			});
		this.health = new BackendHealth({
			name: instance.name,
			log,
			probe: () => void this.refresh(),
			onChange: options.onChange,
		});
		this.session = new BackendSession({
			client: createClient({
				send: this.#http?.send ?? connect(url, budget),
				token,
				info,
				// By default bots only accept loopback names in the Host header, whatever name is used to reach them.
				host: "localhost:9090",
			}),
			onReplaced: () => {
				metrics.reinitialisations.add([this.name]);
				log.info("backend session replaced", { instance: this.name });
			},
			onResent: () => metrics.retries.add([this.name, "session_lost"]),
		});
	}

	get state(): BackendState {
		return this.health.state;
	}

	get inFlight(): number {
		return this.#inFlight.held;
	}

	/**
	 * Forwards a `tools/call`. Resolves with the bot's result or JSON-RPC error. Rejects with Overloaded, or with a
	 * ClientError that says how far the call got.
	 */
	async call(call: ForwardedCall, signal: Signal): Promise<ClientResponse> {
		const permit = this.#inFlight.acquire(signal);
		if (permit) await permit;
		const from = performance.now();
		try {
			for (let isRepeated = false; ; isRepeated = true) {
				try {
					if (this.health.isDoubtful)
						await raceSignal(this.check(), signal, notBegun);
					return this.#answered(await this.session.request(call, signal));
				} catch (error) {
					this.#updateHealth(error, signal);
					if (isRepeated || !this.#mayRepeat(error, call, signal)) throw error;
					this.#options.metrics.retries.add([this.name, "read"]);
				}
			}
		} finally {
			this.#inFlight.release();
			const seconds = (performance.now() - from) / 1000;
			this.#options.metrics.backendSeconds.observe([this.name], seconds);
		}
	}

	/** Whether this tool of the bot has `readOnlyHint`. */
	isReadOnly(tool: string): boolean {
		const isRead = this.tools?.some((one) => one.name === tool && one.readOnly);
		return isRead ?? false;
	}

	/** Ends the session with the bot for good. Never rejects. */
	async close(): Promise<void> {
		this.health.close();
		await this.session.close();
		this.#http?.close();
	}

	/** Updates health after a response. Throws a ClientError if the response is empty. */
	#answered(response: ClientResponse): ClientResponse {
		checkResult(response);
		// The tools and guilds of the bot may have changed while it was offline.
		if (!this.state.online) void this.refresh();
		this.health.setOnline();
		return response;
	}

	/** Whether a failed call may be sent again: its outcome is unknown, but it changes nothing. */
	#mayRepeat(error: unknown, { tool }: ForwardedCall, signal: Signal): boolean {
		const lost = error instanceof ClientError && error.reached === "unknown";
		return lost && !signal.aborted && this.isReadOnly(tool);
	}

	#updateHealth(error: unknown, signal: Signal): void {
		if (!(error instanceof ClientError)) return;
		// A disconnected client says nothing about the bot; a timeout does.
		const late = (signal.reason as Error | undefined)?.name === "TimeoutError";
		if (signal.aborted && !late) return;
		if (error.reached === "unsent") this.#setOffline(error);
		// The connection was perhaps lost because the bot stopped.
		else if (error.reached === "unknown")
			this.health.setDoubtful(this.reasonOf(error));
	}

	async #check(): Promise<BackendState> {
		try {
			await this.#listTools("{}", AbortSignal.timeout(checkTimeoutMs));
			this.health.setOnline();
		} catch (error) {
			this.#setOffline(error);
		}
		return this.state;
	}

	async #refresh(): Promise<void> {
		const signal = AbortSignal.timeout(refreshTimeoutMs);
		try {
			this.#setTools(await this.#tools(signal));
			this.health.setOnline();
		} catch (error) {
			this.#setOffline(error);
			this.health.probeFailed();
			return;
		}
		try {
			const { message } = await this.session.request(
				{
					method: "tools/call",
					params: '{"name":"list_guilds","arguments":{}}',
					maxBodyBytes: maxOwnBytes,
				},
				signal,
			);
			this.#setGuilds(readGuilds(message));
			this.health.probeSucceeded();
		} catch (error) {
			// Usually the bot has not logged in to Discord yet.
			const reason = this.reasonOf(error);
			this.health.noteError(reason);
			if (this.health.probeFailed() === 1)
				this.#options.log.warn("list_guilds failed", {
					instance: this.name,
					reason,
				});
		}
	}

	/** All tools of the bot. If it refuses the request in the current session, a new session is tried once. */
	async #tools(signal: Signal): Promise<OfferedTools> {
		const open = this.session.open;
		try {
			return await this.#toolPages(signal);
		} catch (error) {
			// A lost connection says nothing about the session, in which calls may be in flight.
			const wrong = error instanceof ClientError && error.reached === "refused";
			if (!open || !wrong || signal.aborted) throw error;
			void this.session.end();
			return this.#toolPages(signal);
		}
	}

	/** The tools of all pages of tools/list, up to the limits. */
	async #toolPages(signal: Signal): Promise<OfferedTools> {
		const tools: ListedTool[] = [];
		const dropped: DroppedTool[] = [];
		const cut = (limit: string): OfferedTools => {
			const rest = { name: "the rest", reason: `over the limit of ${limit}` };
			return { tools: tools.slice(0, maxTools), dropped: [rest, ...dropped] };
		};
		let params = "{}";
		let bytes = 0;
		for (let page = 0; page < maxPages; page++) {
			const { text, result } = await this.#listTools(params, signal);
			bytes += Buffer.byteLength(text);
			if (bytes > maxOwnBytes) return cut(`${maxOwnBytes} bytes`);
			// Tools that are not listed count as well: each is parsed and named.
			const left = maxTools - tools.length - dropped.length;
			const read = readTools(text, left + 1);
			tools.push(...read.tools);
			dropped.push(...read.dropped);
			if (read.tools.length + read.dropped.length > left)
				return cut(`${maxTools} tools`);
			const { nextCursor } = result;
			if (typeof nextCursor !== "string" || nextCursor === "")
				return { tools, dropped };
			params = JSON.stringify({ cursor: nextCursor });
		}
		return cut(`${maxPages} pages`);
	}

	async #listTools(params: string, signal: Signal) {
		const { text, message } = await this.session.request(
			{ method: "tools/list", params, maxBodyBytes: maxOwnBytes },
			signal,
		);
		if (isObject(message.result) && Array.isArray(message.result.tools))
			return { text, result: message.result };
		throw new ClientError(
			message.error === undefined
				? "tools/list was answered without a list of tools"
				: `tools/list was answered with an error: ${JSON.stringify(message.error)}`,
			"refused",
		);
	}

	/** Sets the guilds of the bot without those that are pinned to other instances, each of which is logged once. */
	#setGuilds(listed: Map<string, string>): void {
		this.ignoredGuilds = [...this.pins.barred].filter((id) =>
			listed.delete(id),
		);
		this.guilds = listed;
		for (const guild of this.ignoredGuilds) {
			if (this.#loggedGuilds.has(guild)) continue;
			this.#loggedGuilds.add(guild);
			this.#options.log.warn("guild ignored: pinned to another instance", {
				instance: this.name,
				guild,
			});
		}
	}

	#setTools({ tools, dropped }: OfferedTools): void {
		this.tools = tools;
		const before = describeDropped(this.dropped);
		const now = describeDropped(dropped);
		this.dropped = dropped;
		if (now !== "" && now !== before)
			this.#options.log.warn("tools left out of tools/list", {
				instance: this.name,
				tools: now,
			});
	}

	#setOffline(error: unknown): void {
		// Another server at this address does not know the session. The next request opens a new one and finds out.
		this.session.leave();
		this.health.setOffline(this.reasonOf(error));
	}

	/** Why something failed, for people, on one line and without the token, which a message of the bot may quote. */
	reasonOf(error: unknown): string {
		if (!(error instanceof Error)) return String(error);
		const text = error.message.replaceAll(this.#options.token, "[token]");
		return onOneLine(text, maxReasonLength);
	}
}

/** Throws a ClientError if the result of a tool has no content: no tool returns that, so its outcome is unknown. */
function checkResult(response: ClientResponse): void {
	if (response.event) return;
	const { error, result } = response.message as JsonObject;
	if (isObject(error)) return;
	const { content, structuredContent } = isObject(result) ? result : {};
	if (Array.isArray(content) || isObject(structuredContent)) return;
	throw new ClientError("the result of the call has no content", "unknown");
}
