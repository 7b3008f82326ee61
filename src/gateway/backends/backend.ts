// One bot as the gateway sees it. It has to respond before a call that could otherwise end with an unknown outcome.
// A call is sent again only if it cannot have been carried out or changes nothing: a request in a lost session
// (backend-session.ts), one of which no byte was written, and once a tool that only reads.

import { ByteBudget } from "../../lib/byte-budget.ts";
import { isObject, type JsonObject } from "../../lib/json.ts";
import type { Log } from "../../lib/log.ts";
import type { Counter, Histogram } from "../../lib/metrics.ts";
import { approvalCapability, type Principal, principalCapability, rootPrincipal } from "../../lib/principal.ts";
import { Semaphore } from "../../lib/semaphore.ts";
import type { Signal } from "../../lib/signal.ts";
import { onOneLine } from "../../lib/text.ts";
import { raceSignal, singleFlight } from "../../lib/wait.ts";
import { readIds, waitingMethod } from "../../mcp/approval.ts";
import { ClientError, type ClientResponse, createClient, ServerDraining } from "../../mcp/client.ts";
import { inputRequiredType } from "../../mcp/elicitation.ts";
import { type PersonRights, readRights, rightsMethod } from "../../mcp/rights.ts";
import type { Instance } from "../config/config.ts";
import type { Pins } from "../config/pins.ts";
import { HttpClient } from "../http/http-client.ts";
import { BackendHealth, type BackendState, maxAwayMs, type Presence, type ProcessReport } from "./backend-health.ts";
import { BackendSession, declares, handshakeTimeoutMs, notBegun, type SessionRequest } from "./backend-session.ts";
import { readGuilds, safeGuildName } from "./guilds.ts";
import { type ListedPrompt, readPrompts } from "./listed-prompts.ts";
import {
	type DroppedTool,
	describeDropped,
	type ListedTool,
	maxTools,
	type OfferedTools,
	ToolsReader,
} from "./listed-tools.ts";

const refreshTimeoutMs = handshakeTimeoutMs;
const checkTimeoutMs = 2_000;
/** For a bot that is away to accept a session and count as back, in milliseconds. */
const returnTimeoutMs = 1_000;
const maxQueueMs = 2_000;
/** A minute. */
const maxPause = 40;
const maxPages = 100;
const maxOwnBytes = 2 * 1024 * 1024;
/** In bytes, for the partly received responses of all bots. A single response has at most 16 MiB. */
export const maxUnfinishedBytes = 64 * 1024 * 1024;
const maxReasonLength = 300;

const idOf = ({ principal = rootPrincipal }: Pick<SessionRequest, "principal">) => principal.id;

interface BackendMetrics {
	reinitialisations: Counter;
	retries: Counter;
	/** From forwarding a call to the bot's response. */
	backendSeconds: Histogram;
}

export interface BackendOptions {
	instance: Instance;
	token: string;
	info: { name: string; version: string };
	maxInFlight: number;
	metrics: BackendMetrics;
	/** Shared by all bots. Default: a separate limit for this bot. */
	budget?: ByteBudget;
	log: Log;
	/** Default: one for this bot. */
	toolsReader?: ToolsReader;
	/** Calls to a silent bot are held for so long (milliseconds). Default: 5,000. 0: they fail at once. */
	awayMs?: number | undefined;
	/** The state, tools or guilds may have changed. */
	onChange(): void;
}

export interface ForwardedCall extends SessionRequest {
	method: "tools/call";
	/** The JSON text of the parameters contains it as well. */
	tool: string;
}

export interface BackendOffer extends OfferedTools {
	prompts: readonly ListedPrompt[];
}

export class Backend {
	readonly name: string;
	readonly url: string;
	readonly pins: Pins;
	/** Always the same object, because encoded headers are cached by object. */
	readonly responseHeaders: Record<string, string>;
	/** Id → name. Kept while the bot is offline. */
	guilds: ReadonlyMap<string, string> = new Map();
	/** Reported by the bot, but pinned only to other bots. */
	ignoredGuilds: readonly string[] = [];
	/** Kept while the bot is offline; undefined until its first response. */
	tools: readonly ListedTool[] | undefined;
	#toolsByName: ReadonlyMap<string, ListedTool> = new Map();
	/** Left out of the gateway's tools/list. */
	dropped: readonly DroppedTool[] = [];
	/** Kept while the bot is offline; empty until its first response. */
	prompts: readonly ListedPrompt[] = [];
	/** Ids of principals whose calls wait for approval, as far as the gateway knows. */
	readonly waiting = new Set<string>();
	#promptsFailed = false;
	#isSilent = false;
	/** Refreshes that failed, in a row. */
	#failures = 0;
	/** Rounds of `watch` before the next refresh. */
	#pause = 0;
	/** Of those in flight. */
	#reads = 0;
	readonly health: BackendHealth;
	readonly session: BackendSession;
	readonly #http: HttpClient;
	readonly #inFlight: Semaphore;
	/** Clients choose limits, and so how many lists there are. */
	readonly #offers = new Semaphore({ max: 8, maxPerCaller: 8 });
	readonly #options: BackendOptions;
	readonly #toolsReader: ToolsReader;
	readonly #loggedGuilds = new Set<string>();
	readonly #label: readonly string[];

	/** By a `tools/list`, within 2 s. Concurrent calls share one check. Never rejects. */
	readonly check = singleFlight(() => this.#check());
	/** Within 5 s, in a new session if necessary. Concurrent calls share one refresh. Never rejects. */
	readonly refresh = singleFlight(() => this.#refresh().finally(() => this.#options.onChange()));

	constructor(options: BackendOptions) {
		const { instance, token, info, maxInFlight, metrics, log } = options;
		const { budget = new ByteBudget(maxUnfinishedBytes) } = options;
		this.name = instance.name;
		this.#label = [instance.name];
		this.url = instance.url;
		this.pins = instance;
		this.responseHeaders = { "X-Mcp-Instance": instance.name };
		this.#options = options;
		this.#toolsReader = options.toolsReader ?? new ToolsReader(1);
		this.#inFlight = new Semaphore({ max: maxInFlight, maxWaiting: 2 * maxInFlight, maxWaitMs: maxQueueMs });
		this.#http = new HttpClient({ url: instance.endpoint, budget });
		this.health = new BackendHealth({
			name: instance.name,
			log,
			// The tools and guilds of the bot may have changed.
			refresh: () => void this.refresh(),
			onChange: options.onChange,
			awayMs: options.awayMs ?? maxAwayMs,
			// When the bot is back, the held calls run or wait for a place.
			maxHeld: 2 * maxInFlight,
			ask: () => this.#askWhetherBack(),
		});
		this.session = new BackendSession({
			client: createClient({
				dispatch: this.#http.dispatch,
				token,
				info,
				// By default bots only accept loopback names in the Host header, whatever name is used to reach them.
				host: "localhost:9090",
			}),
			onReplaced: () => {
				metrics.reinitialisations.add([this.name]);
				log.info("opened a new MCP session with a bot: the old one was lost", { instance: this.name });
				// It may be another version of the bot.
				options.onChange();
			},
			onResent: () => metrics.retries.add([this.name, "session_lost"]),
		});
	}

	setProcess(report: ProcessReport): void {
		// The next process knows no session.
		if (report.halted) this.session.leave();
		this.health.setProcess(report);
	}

	/** Asks whether it runs and is ready, until `signal` aborts, and refreshes it if something has failed. Never rejects. */
	async watch(signal: Signal): Promise<void> {
		const { health } = this;
		// While it is away, a loop asks; while it is halted, `up` knows.
		if (this.state.away || health.process.halted) return;
		try {
			const notReady = await this.session.notReady(signal);
			const isBetter = this.#isSilent || (health.notReady !== undefined && notReady === undefined);
			health.notReady = notReady;
			this.#isSilent = false;
			if (isBetter) this.#pause = 0;
			const isStale = !this.state.online || health.isDoubtful || this.#failures > 0;
			if ((isBetter || isStale) && --this.#pause < 0) void this.refresh();
		} catch (error) {
			// A lost connection may only be one that the bot closed as idle.
			if (!signal.aborted && (error as ClientError).reached !== "unsent") return;
			this.#isSilent = true;
			if (this.state.online) this.#setOffline(error);
		}
	}

	/** As each `View` has it. */
	get backend(): Backend {
		return this;
	}

	get state(): BackendState {
		return this.health.state;
	}

	/** The bot declared that it enforces limits of principals; others get no requests of principals. */
	get acceptsPrincipals(): boolean {
		return declares(this.session.server, principalCapability);
	}

	get #hasApproval(): boolean {
		return declares(this.session.server, approvalCapability);
	}

	/** Tool calls. */
	get inFlight(): number {
		return this.#inFlight.held - this.#reads;
	}

	get held(): number {
		return this.health.held;
	}

	/** Waits for a bot that is away. Rejects with Overloaded, or a ClientError that says whether the bot got the call. */
	async call(call: ForwardedCall, signal: Signal): Promise<ClientResponse> {
		let isRepeated = false;
		for (;;) {
			// Held calls take none of the `maxInFlight` places.
			if (!this.state.online) await this.health.hold(signal);
			const permit = this.#inFlight.acquire(signal, idOf(call));
			if (permit) await permit;
			const from = performance.now();
			try {
				if (this.health.isDoubtful) await raceSignal(this.check(), signal, notBegun);
				if (!this.state.away) return this.#answered(call, await this.session.request(call, signal));
			} catch (error) {
				this.#updateHealth(error, signal);
				if (this.#mayHold(error, signal)) continue;
				if (isRepeated || !this.#mayRepeat(error, call, signal)) throw error;
				isRepeated = true;
				this.#options.metrics.retries.add([this.name, "read"]);
			} finally {
				this.#inFlight.release(idOf(call));
				const seconds = (performance.now() - from) / 1000;
				this.#options.metrics.backendSeconds.observe(this.#label, seconds);
			}
		}
	}

	/** For requests that change nothing. Waits for a bot that is away. Rejects with Overloaded or a ClientError. */
	async read(
		request: Pick<SessionRequest, "method" | "params" | "principal" | "trace">,
		signal: Signal,
	): Promise<ClientResponse> {
		for (;;) {
			if (!this.state.online) await this.health.hold(signal);
			await this.#inFlight.acquire(signal, idOf(request));
			this.#reads++;
			try {
				const response = await this.session.request({ ...request, maxBodyBytes: maxOwnBytes }, signal);
				this.health.setOnline();
				return response;
			} catch (error) {
				this.#updateHealth(error, signal);
				if (!this.#mayHold(error, signal)) throw error;
			} finally {
				this.#reads--;
				this.#inFlight.release(idOf(request));
			}
		}
	}

	/** Without guilds that are pinned to other bots. Rejects with Overloaded or a ClientError. */
	async rights(personId: string, signal: Signal): Promise<PersonRights> {
		// The answer does not depend on how the person signed in.
		const person = { id: personId, name: "", signedIn: false };
		const principal: Principal = { id: "rights", name: "rights", access: "read", person };
		const { message } = await this.read({ method: rightsMethod, params: "{}", principal }, signal);
		const rights = readRights(message.result);
		if (!rights) throw new ClientError(`the bot answered ${rightsMethod} without a list of guilds`, "refused");
		const guilds = rights.guilds
			.filter(({ id }) => !this.pins.barred.has(id))
			.map(({ id, name, signIn }) => ({ id, name: safeGuildName(id, name), signIn }));
		return { ...rights, guilds };
	}

	/** A call of this principal may wait for approval. */
	noteWaiting({ id }: Principal): void {
		if (this.#hasApproval) this.waiting.add(id);
	}

	/** Withdraws waiting calls of ended principals, and updates `waiting`. Rejects with a ClientError. */
	async withdraw(gone: readonly string[], signal: Signal): Promise<void> {
		if (!this.#hasApproval) return this.waiting.clear();
		const before = [...this.waiting];
		const params = JSON.stringify({ gone });
		const { message } = await this.#ask(waitingMethod, params, signal);
		const listed = readIds(Object(message.result).waiting);
		if (!listed) throw new ClientError("the bot's list of callers is invalid", "refused");
		// What was noted meanwhile stays.
		for (const id of before) this.waiting.delete(id);
		for (const id of listed) this.waiting.add(id);
	}

	/** Rejects with a ClientError. */
	async offer(principal: Principal, signal: Signal): Promise<BackendOffer> {
		const [{ tools, dropped }, prompts] = await this.#offers.run(signal, () =>
			Promise.all([this.#toolPages(signal, principal), this.#listPrompts(signal, principal)]),
		);
		const shared = tools.map((tool) => {
			const own = this.tool(tool.name);
			return own?.text === tool.text ? own : tool;
		});
		return { tools: shared, dropped, prompts };
	}

	tool(name: string): ListedTool | undefined {
		return this.#toolsByName.get(name);
	}

	/** By `readOnlyHint`; false for an unknown tool. */
	isReadOnly(tool: string): boolean {
		return this.tool(tool)?.readOnly ?? false;
	}

	/** Never rejects. */
	async close(): Promise<void> {
		this.health.close();
		await this.session.close();
		this.#http.close();
	}

	#answered(call: ForwardedCall, response: ClientResponse): ClientResponse {
		checkResult(response, call.elicits ?? false);
		// The tools and guilds of the bot may have changed while it was offline. After an absence, they are read anyway.
		if (this.state.online || this.state.away) return response;
		void this.refresh();
		this.health.setOnline();
		return response;
	}

	#mayRepeat(error: unknown, { tool }: ForwardedCall, signal: Signal): boolean {
		const lost = error instanceof ClientError && error.reached === "unknown";
		return lost && !signal.aborted && this.isReadOnly(tool);
	}

	/** The bot is away and certainly did not carry out the request, which can wait for it. */
	#mayHold(error: unknown, signal: Signal): boolean {
		if (!this.state.away || signal.aborted) return false;
		return error instanceof ServerDraining || (error instanceof ClientError && error.reached === "unsent");
	}

	async #askWhetherBack(): Promise<Presence> {
		try {
			await this.session.ensure(returnTimeoutMs);
			return "back";
		} catch (error) {
			const isLate = Object(error).cause?.name === "TimeoutError";
			this.health.noteError(isLate ? "no response in time" : this.reasonOf(error));
			return isDraining(error) ? "draining" : "silent";
		}
	}

	#updateHealth(error: unknown, signal: Signal): void {
		if (!(error instanceof ClientError)) return;
		// A disconnected client says nothing about the bot; a timeout does.
		const late = (signal.reason as Error | undefined)?.name === "TimeoutError";
		if (signal.aborted && !late) return;
		if (error.reached === "unsent" || isDraining(error)) this.#setOffline(error);
		// The connection was perhaps lost because the bot stopped.
		else if (error.reached === "unknown") this.health.setDoubtful(this.reasonOf(error));
	}

	async #check(): Promise<BackendState> {
		if (this.health.process.halted) return this.state;
		try {
			await this.#listTools("{}", AbortSignal.timeout(checkTimeoutMs));
			this.health.setOnline();
		} catch (error) {
			this.#setOffline(error);
		}
		return this.state;
	}

	async #refresh(): Promise<void> {
		if (this.health.process.halted) return;
		const signal = AbortSignal.timeout(refreshTimeoutMs);
		try {
			this.#setTools(await this.#tools(signal));
			this.health.setOnline();
		} catch (error) {
			this.#setOffline(error);
			this.#noteFailure();
			return;
		}
		await Promise.all([
			this.#refreshPrompts(signal),
			this.#refreshGuilds(signal),
			// If this fails, what the gateway has noted stays.
			this.withdraw([], signal).catch(() => {}),
		]);
	}

	async #refreshPrompts(signal: AbortSignal): Promise<void> {
		try {
			this.prompts = await this.#listPrompts(signal);
			this.#promptsFailed = false;
		} catch (error) {
			const reason = this.reasonOf(error);
			if (!this.#promptsFailed)
				this.#options.log.warn("could not list the MCP prompts of a bot", { instance: this.name, reason });
			this.#promptsFailed = true;
		}
	}

	async #refreshGuilds(signal: AbortSignal): Promise<void> {
		try {
			const { message } = await this.#ask("tools/call", '{"name":"list_guilds","arguments":{}}', signal);
			this.#setGuilds(readGuilds(message));
			this.#failures = 0;
			this.#pause = 0;
		} catch (error) {
			// Usually the bot has not logged in to Discord yet.
			const reason = this.reasonOf(error);
			this.health.noteError(reason);
			if (this.#noteFailure() === 1)
				this.#options.log.warn("could not list the guilds of a bot", { instance: this.name, reason });
		}
	}

	#noteFailure(): number {
		this.#pause = Math.min(2 ** this.#failures, maxPause);
		return ++this.#failures;
	}

	/** If the bot refuses in the current session, tries once more in a new one. */
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

	async #toolPages(signal: Signal, principal?: Principal): Promise<OfferedTools> {
		const tools: ListedTool[] = [];
		const dropped: DroppedTool[] = [];
		const cut = (limit: string): OfferedTools => {
			const rest = { name: "the rest", reason: `over the limit of ${limit}` };
			return { tools: tools.slice(0, maxTools), dropped: [rest, ...dropped] };
		};
		let params = "{}";
		let bytes = 0;
		for (let page = 0; page < maxPages; page++) {
			const { text, result } = await this.#listTools(params, signal, principal);
			bytes += Buffer.byteLength(text);
			if (bytes > maxOwnBytes) return cut(`${maxOwnBytes} bytes`);
			const read = this.#toolsReader.read(text);
			tools.push(...read.tools);
			dropped.push(...read.dropped);
			if (tools.length + dropped.length > maxTools) return cut(`${maxTools} tools`);
			const { nextCursor } = result;
			if (typeof nextCursor !== "string" || nextCursor === "") return page === 0 ? read : { tools, dropped };
			params = JSON.stringify({ cursor: nextCursor });
		}
		return cut(`${maxPages} pages`);
	}

	/** Without a place among the calls in flight. Rejects with a ClientError. */
	#ask(method: SessionRequest["method"], params: string, signal: Signal, principal?: Principal) {
		return this.session.request({ method, params, principal, maxBodyBytes: maxOwnBytes }, signal);
	}

	async #listPrompts(signal: Signal, principal?: Principal): Promise<ListedPrompt[]> {
		if (!this.session.server.hasPrompts) return [];
		const { message } = await this.#ask("prompts/list", "{}", signal, principal);
		return readPrompts(message.result);
	}

	async #listTools(params: string, signal: Signal, principal?: Principal) {
		const { text, message } = await this.#ask("tools/list", params, signal, principal);
		if (isObject(message.result) && Array.isArray(message.result.tools)) return { text, result: message.result };
		throw new ClientError(
			message.error === undefined
				? "the bot answered tools/list without a list of tools"
				: `the bot answered tools/list with an error: ${JSON.stringify(message.error)}`,
			"refused",
		);
	}

	#setGuilds(listed: Map<string, string>): void {
		this.ignoredGuilds = [...this.pins.barred].filter((id) => listed.delete(id));
		// The same object while nothing changes, so that what is derived from it is kept.
		if (!Bun.deepEquals(this.guilds, listed)) {
			this.guilds = listed;
			// Not only at the end of the refresh: the bot may take seconds to list its prompts.
			this.#options.onChange();
		}
		for (const guild of this.ignoredGuilds) {
			if (this.#loggedGuilds.has(guild)) continue;
			this.#loggedGuilds.add(guild);
			this.#options.log.warn("ignored a guild of a bot: GUILDS_<NAME> pins it to another bot", {
				instance: this.name,
				guild,
			});
		}
	}

	#setTools({ tools, dropped }: OfferedTools): void {
		// The same object while nothing changes, so that what is derived from it is kept.
		const isSame = tools.every((tool, at) => tool === this.tools?.[at]);
		if (!isSame || tools.length !== this.tools?.length) {
			this.tools = tools;
			this.#toolsByName = new Map(tools.map((tool) => [tool.name, tool]));
		}
		const before = describeDropped(this.dropped);
		const now = describeDropped(dropped);
		this.dropped = dropped;
		if (now !== "" && now !== before)
			this.#options.log.warn(
				"left tools of a bot out of the gateway's tools/list, each for the reason in parentheses",
				{ instance: this.name, tools: now },
			);
	}

	#setOffline(error: unknown): void {
		// Another server at this address does not know the session. The next request opens a new one and finds out.
		this.session.leave();
		// The bot has closed its idle connections, or is about to.
		this.#http.closeIdle();
		const presence = isDraining(error) ? "draining" : wasRefused(error) ? undefined : "silent";
		this.health.setOffline(this.reasonOf(error), presence);
	}

	/** On one line, without the bearer token. */
	reasonOf(error: unknown): string {
		if (!(error instanceof Error)) return String(error);
		return onOneLine(error.message.replaceAll(this.#options.token, "[token]"), maxReasonLength);
	}
}

function isDraining(error: unknown): boolean {
	return [error, Object(error).cause].some((one) => one instanceof ServerDraining);
}

/** A restart would not explain a refusal, so the bot does not count as away. */
function wasRefused(error: unknown): boolean {
	return [error, Object(error).cause].some((one) => one instanceof ClientError && one.reached === "refused");
}

/** Without content the outcome is unknown: throws a ClientError. A result that asks for input has none (`elicits`). */
function checkResult(response: ClientResponse, elicits: boolean): void {
	if (response.event) return;
	const { error, result } = response.message as JsonObject;
	if (isObject(error)) return;
	const { content, structuredContent, resultType } = isObject(result) ? result : {};
	if (elicits && resultType === inputRequiredType) return;
	if (Array.isArray(content) || isObject(structuredContent)) return;
	throw new ClientError("the bot's result of the tool call has no content", "unknown");
}
