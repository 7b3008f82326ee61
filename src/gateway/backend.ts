// One bot as the gateway sees it: its tools and guilds, and the calls to it.
//
// Before a call is sent, a bot that may be away has to respond, so that no call ends with an unknown outcome because its
// bot was away: with a new session if it was offline, with a tools/list after a call without a response.
//
// A call is sent again only if it cannot have been carried out or changes nothing: a request in a lost session
// (backend-session.ts), one that never left, and once a tool that only reads.

import { ByteBudget } from "../lib/byte-budget.ts";
import { createFetchSend, type Send } from "../lib/http.ts";
import type { Log } from "../lib/log.ts";
import { Semaphore } from "../lib/semaphore.ts";
import type { Signal } from "../lib/signal.ts";
import { onOneLine } from "../lib/text.ts";
import {
	ClientError,
	type ClientResponse,
	createClient,
} from "../mcp/client.ts";
import { isObject } from "../mcp/json-rpc.ts";
import { BackendHealth, type BackendState } from "./backend-health.ts";
import {
	BackendSession,
	handshakeTimeoutMs,
	type SessionRequest,
	untilAborted,
} from "./backend-session.ts";
import {
	type DroppedTool,
	type ListedTool,
	type OfferedTools,
	readTools,
} from "./catalog.ts";
import type { Instance } from "./config.ts";
import { readGuilds } from "./guilds.ts";
import { createHttpClient, type HttpClient } from "./http/http-client.ts";
import type { BackendMetrics } from "./metrics.ts";
import type { Pins } from "./pins.ts";
import { describeDropped } from "./status.ts";

/** Timeout of a whole refresh. */
const refreshTimeoutMs = handshakeTimeoutMs;
/** Timeout of a check. */
const checkTimeoutMs = 2_000;
/** How long a call may wait for others to end. */
const maxQueueMs = 2_000;
/** Connections in addition to those for calls: for refreshes, checks and cancellations. */
const spareConnections = 8;
/** Limits of a bot's tools/list; the rest is not listed. */
const maxPages = 100;
const maxTools = 500;
/** Limit of all pages of a tools/list, and of each response to the gateway's own requests. */
const maxOwnBytes = 2 * 1024 * 1024;
/** Limit of unfinished responses, all bots together. Few are larger than a packet, and none is larger than 16 MiB. */
const maxUnfinishedBytes = 64 * 1024 * 1024;
/** Longer reasons are cut. */
const maxReasonLength = 300;

export interface BackendOptions {
	instance: Instance;
	token: string;
	info: { name: string; version: string };
	/** Concurrent calls to it. */
	maxInFlight: number;
	metrics: BackendMetrics;
	/** Shared by all backends. Default: a budget of its own. */
	budget?: ByteBudget;
	log: Log;
	/** Called when its state, tools or guilds may have changed. */
	onChange(): void;
	/** Makes what sends requests to an endpoint. Default: http-client.ts, and fetch for https. */
	connect?: ((endpoint: string, budget: ByteBudget) => Send) | undefined;
}

/** A call to forward. */
export interface ForwardedCall extends SessionRequest {
	method: "tools/call";
	/** The name in its params. */
	tool: string;
}

/** Limits the unfinished responses of all backends together. */
export function createResponseBudget(): ByteBudget {
	return new ByteBudget(maxUnfinishedBytes);
}

export class Backend {
	readonly name: string;
	readonly url: string;
	readonly pins: Pins;
	/** Headers of every response from it; always the same object. */
	readonly responseHeaders: Record<string, string>;
	/** The guilds that it serves, id → name, as last known, also while it is offline. */
	guilds: ReadonlyMap<string, string> = new Map();
	/** Guilds that it listed although they are pinned to other instances. */
	ignoredGuilds: readonly string[] = [];
	/** Its tools as last known; undefined until the first response. */
	tools: readonly ListedTool[] | undefined;
	/** Its tools that are not listed. */
	dropped: readonly DroppedTool[] = [];
	readonly health: BackendHealth;
	readonly session: BackendSession;
	readonly #http: HttpClient | undefined;
	readonly #inFlight: Semaphore;
	readonly #options: BackendOptions;
	readonly #readOnly = new Set<string>();
	readonly #saidIgnored = new Set<string>();
	#refreshing: Promise<void> | undefined;
	#checking: Promise<BackendState> | undefined;

	constructor(options: BackendOptions) {
		const { instance, token, info, maxInFlight, metrics, log } = options;
		const { budget = createResponseBudget() } = options;
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
			this.#http = createHttpClient({
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
				// Bots only accept loopback names, whatever name is used to reach them.
				host: "localhost:9090",
			}),
			onReplaced: () => {
				metrics.reinitialisations.add([this.name]);
				log.info("session replaced", { instance: this.name });
			},
			onResent: () => metrics.retries.add([this.name, "session_lost"]),
		});
	}

	get state(): BackendState {
		return this.health.state;
	}

	/** Calls in flight. */
	get inFlight(): number {
		return this.#inFlight.held;
	}

	/**
	 * Forwards a `tools/call`. Resolves with the bot's result or JSON-RPC error. Rejects with Overloaded, or with a
	 * ClientError that says how far the call got.
	 */
	async call(call: ForwardedCall, signal: Signal): Promise<ClientResponse> {
		const turn = this.#inFlight.acquire(signal);
		if (turn) await turn;
		const from = performance.now();
		try {
			for (let isRepeated = false; ; isRepeated = true) {
				try {
					if (this.health.isDoubtful) await untilAborted(this.check(), signal);
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

	/** Whether the bot says that this tool changes nothing. */
	isReadOnly(tool: string): boolean {
		return this.#readOnly.has(tool);
	}

	/** Updates the state: online means that the bot answers a `tools/list` within 2 s. Concurrent checks are one. Never rejects. */
	check(): Promise<BackendState> {
		this.#checking ??= this.#check().finally(() => {
			this.#checking = undefined;
		});
		return this.#checking;
	}

	/** Updates state, tools and guilds within 5 s, in a new session if necessary. Concurrent refreshes are one. Never rejects. */
	refresh(): Promise<void> {
		this.#refreshing ??= this.#refresh().finally(() => {
			this.#refreshing = undefined;
			this.#options.onChange();
		});
		return this.#refreshing;
	}

	/** Ends its session, for good. Never rejects. */
	async close(): Promise<void> {
		this.health.close();
		await this.session.close();
		this.#http?.close();
	}

	/** Updates health after a response. Throws a ClientError if the response is empty. */
	#answered(response: ClientResponse): ClientResponse {
		checkResult(response);
		// What it offers may have changed in the meantime.
		if (!this.state.online) void this.refresh();
		this.health.setOnline();
		return response;
	}

	/** Whether a failed call may be sent again: its outcome is unknown, but it changes nothing. */
	#mayRepeat(error: unknown, { tool }: ForwardedCall, signal: Signal): boolean {
		const lost = error instanceof ClientError && error.reached === "unknown";
		return lost && !signal.aborted && this.isReadOnly(tool);
	}

	/** Updates health after a failed call. */
	#updateHealth(error: unknown, signal: Signal): void {
		if (!(error instanceof ClientError)) return;
		// A client that hung up says nothing about the bot; a timeout does.
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
			// For example, the bot has not logged in to Discord yet.
			const reason = this.reasonOf(error);
			this.health.noteError(reason);
			if (this.health.probeFailed() === 1)
				this.#options.log.warn("list_guilds failed", {
					instance: this.name,
					reason,
				});
		}
	}

	/** All its tools. If the bot refuses in the current session, once more in a new one. */
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

	/** The tools of all pages, up to the limits. */
	async #toolPages(signal: Signal): Promise<OfferedTools> {
		const tools: ListedTool[] = [];
		const dropped: DroppedTool[] = [];
		const cut = (limit: string): OfferedTools => {
			const rest = { name: "the rest", reason: `over the limit of ${limit}` };
			return {
				tools: tools.slice(0, maxTools),
				dropped: [rest, ...dropped],
			};
		};
		let params = "{}";
		let bytes = 0;
		for (let page = 0; page < maxPages; page++) {
			const { text, result } = await this.#listTools(params, signal);
			bytes += Buffer.byteLength(text);
			if (bytes > maxOwnBytes) return cut(`${maxOwnBytes} bytes`);
			// Dropped ones count as well: each is parsed and named.
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

	/** Guilds that are pinned to other instances are left out, and logged once. */
	#setGuilds(listed: Map<string, string>): void {
		this.ignoredGuilds = [...this.pins.barred].filter((id) =>
			listed.delete(id),
		);
		this.guilds = listed;
		for (const guild of this.ignoredGuilds) {
			if (this.#saidIgnored.has(guild)) continue;
			this.#saidIgnored.add(guild);
			this.#options.log.warn("guild ignored: pinned to another instance", {
				instance: this.name,
				guild,
			});
		}
	}

	#setTools({ tools, dropped }: OfferedTools): void {
		this.tools = tools;
		this.#readOnly.clear();
		for (const { name, readOnly } of tools)
			if (readOnly) this.#readOnly.add(name);
		const before = describeDropped(this.dropped);
		const now = describeDropped(dropped);
		this.dropped = dropped;
		if (now !== "" && now !== before)
			this.#options.log.warn("tools dropped", {
				instance: this.name,
				tools: now,
			});
	}

	#setOffline(error: unknown): void {
		// A server that answers in its place does not know the session: the next request opens a new one first.
		this.session.leave();
		this.health.setOffline(this.reasonOf(error));
	}

	/** Why something failed, for people, on one line. Parts may come from the bot and quote what we sent, such as the token. */
	reasonOf(error: unknown): string {
		if (!(error instanceof Error)) return String(error);
		const text = error.message.replaceAll(this.#options.token, "[token]");
		return onOneLine(text, maxReasonLength);
	}
}

/** Throws a ClientError for a result without content: it was lost on the way. */
function checkResult(response: ClientResponse): void {
	if (response.event) return;
	const { message } = response;
	if (isObject(message.error)) return;
	const { result } = message;
	if (
		isObject(result) &&
		(Array.isArray(result.content) || isObject(result.structuredContent))
	)
		return;
	throw new ClientError("the answer has no content", "unknown");
}
