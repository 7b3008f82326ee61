// Deadlines for discord.js's REST requests.
//
// discord.js's own methods take no signal, its timeout excludes the wait in its queue, and it retries writes. Here every
// platform call has 10 s from entering the queue to the last byte of the response; a write is sent at most once; a failed
// read is retried once. A call that would have to wait past its deadline fails at once. nonce.ts sends messages again.

import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import {
	DiscordAPIError,
	HTTPError,
	type InternalRequest,
	type RateLimitData,
	RateLimitError,
	type REST,
	type RESTOptions,
	RequestMethod,
	type ResponseLike,
	Routes,
} from "discord.js";
import { type Signal, toAbortSignal } from "../../../lib/signal.ts";
import { followMonotonicClock } from "./rate-limit-clock.ts";
import { type Pause, RequestGuard } from "./request-guard.ts";
import { type Priority, QueueFull, RequestQueue, stopsHarm } from "./request-queue.ts";
import { ForeignResponse, readResponse, UnusableResponse } from "./response.ts";
import { findResponseProblem } from "./response-schemas.ts";

/** Timeout of a request to Discord's REST API, including its wait in the queue. */
export const platformTimeoutMs = 10_000;

const maxPauseWaitMs = 1_000;

const maxRateLimits = 5;

/** Whether Discord may have carried out a request to which it sent no usable response. */
export type Outcome =
	/** The request was not sent, or was rate limited (429): nothing was done. */
	| "not sent"
	/** The request was refused (4xx) with a response that cannot be read: nothing was done. */
	| "refused"
	/** The request only reads: nothing was changed. */
	| "read"
	/** The request was sent, and Discord may have carried it out. */
	| "unknown";

/** Thrown when a request to Discord's API timed out. */
export class PlatformTimeout extends Error {
	override name = "PlatformTimeout";
	constructor(readonly outcome: Outcome) {
		super("Discord API request timed out");
	}
}

/**
 * Thrown when a request to Discord's API got no usable response, because the connection was lost or Discord responded
 * 5xx.
 */
export class PlatformFailure extends Error {
	override name = "PlatformFailure";
	constructor(
		readonly outcome: Outcome,
		cause: unknown,
	) {
		super(describe(cause), { cause });
	}
}

function describe(cause: unknown): string {
	if (cause instanceof HTTPError) return `${cause.status} ${cause.message}`.trim();
	return cause instanceof Error ? cause.message : String(cause);
}

/**
 * Thrown when a request was not carried out, because it would have waited too long: for Discord's rate limit, or while
 * the bot itself pauses all requests to avoid an IP ban.
 */
export class PlatformBusy extends Error {
	override name = "PlatformBusy";
	constructor(
		/**
		 * What the request would have had to wait for: Discord's rate limit, or the end of a pause of all requests, which
		 * the bot makes to avoid an IP ban.
		 */
		readonly why: "rate limit" | Pause["why"],
		readonly retryAfterMs: number,
		options?: ErrorOptions,
	) {
		super(`busy for ${Math.ceil(retryAfterMs)} ms: ${why}`, options);
	}
}

/** Whether Discord may have carried out the request that failed with `error`. */
export function isOutcomeUnknown(error: unknown): error is PlatformTimeout | PlatformFailure {
	return (error instanceof PlatformTimeout || error instanceof PlatformFailure) && error.outcome === "unknown";
}

/** Whether the request that failed with `error` has certainly changed nothing at Discord. */
export function wasNotDone(error: unknown): boolean {
	if (error instanceof PlatformTimeout || error instanceof PlatformFailure) return !isOutcomeUnknown(error);
	return error instanceof DiscordAPIError || error instanceof PlatformBusy;
}

interface Call {
	state: "waiting" | "sent" | "refused";
	rateLimits: number;
	status: number;
	readonly endsAt: number;
	readonly priority: Priority | undefined;
}

/** Limits on the requests that a running tool sends to Discord's API. */
export interface ToolRun {
	/** Aborts every request of the running tool to Discord's API. */
	signal: Signal;
	/** Deadline of the running tool, in milliseconds of `performance.now()`. */
	endsAt: number;
	/** Reason for the guild's audit log. It is sent with every request of the tool that changes something. */
	reason: string | undefined;
	/**
	 * Whether the tool may send requests that change something; otherwise these requests throw. False for read-only
	 * tools, and for other tools until they have planned their changes.
	 */
	mayWrite: boolean;
	/** Whether a person will be shown what the tool plans to do. */
	isReviewed?: boolean;
	/**
	 * Called before a request that changes something. If it throws, the request is not sent.
	 */
	beforeWrite?: (() => void) | undefined;
	/** Called after the tool sent a request that changes something and that Discord may have carried out. */
	onWrite?(): void;
	/** Called when a tool that changes several objects knows the outcome of one of them. */
	onItem?: ((id: string, outcome: ItemOutcome) => void) | undefined;
}

/** Whether a step of a tool took effect on Discord. */
export type ItemOutcome = "done" | "not done" | "unknown";

interface Scope {
	run?: ToolRun;
	call?: Call;
	onRateLimitState?: (state: RateLimitState) => void;
	isBackground?: boolean;
}

const scope = new AsyncLocalStorage<Scope>();

function withScope<T>(added: Scope, work: () => T): T {
	return scope.run({ ...scope.getStore(), ...added }, work);
}

/** Returns the limits of the running tool, such as its deadline; undefined if no tool is running. */
export const currentRun = () => scope.getStore()?.run;
const currentCall = () => scope.getStore()?.call;

/** State of one of Discord's rate limits after a request. */
export interface RateLimitState {
	/** Number of requests that Discord allows per rate limit window. */
	limit: number;
	/** Number of requests left in the current rate limit window. */
	remaining: number;
	resetAfterMs: number;
}

/**
 * Runs a function and calls `onRateLimitState` whenever Discord's response to one of the function's requests has rate
 * limit headers.
 */
export function observeRateLimit<T>(
	onRateLimitState: (state: RateLimitState) => void,
	work: () => Promise<T>,
): Promise<T> {
	return withScope({ onRateLimitState }, work);
}

/** Runs `work`, whose requests to Discord are subject to the limits in `run`, such as the deadline. */
export function withinRun<T>(run: ToolRun, work: () => Promise<T>): Promise<T> {
	return withScope({ run }, work);
}

/** Runs a part of the running tool, and calls `onItem` for each object whose outcome the tool reports with `noteItem`. */
export function noteItems<T>(onItem: NonNullable<ToolRun["onItem"]>, work: () => Promise<T>): Promise<T> {
	const run = currentRun();
	return run ? withinRun({ ...run, onItem }, work) : work();
}

/** Reports that the running tool has changed an object, such as the member with this id, or could not. */
export function noteItem(id: string, outcome: ItemOutcome): void {
	currentRun()?.onItem?.(id, outcome);
}

/** Runs `work`, whose requests to Discord can wait until those of tools and commands are sent. */
export function inBackground<T>(work: () => Promise<T>): Promise<T> {
	return withScope({ isBackground: true }, work);
}

/** Allows the running tool to send requests that change something. Call this when the tool has planned its changes. */
export function permitWrites(): void {
	const run = currentRun();
	if (run) run.mayWrite = true;
}

/** Returns the milliseconds until the deadline of the running tool; Infinity if no tool is running. */
export function timeLeftMs(): number {
	const { endsAt = Infinity } = currentRun() ?? {};
	return endsAt - performance.now();
}

/**
 * Runs a function with a deadline that is `reserveMs` before the deadline of the running tool, to leave time for
 * reporting the result.
 */
export function endingEarlier<T>(reserveMs: number, work: () => Promise<T>): Promise<T> {
	const run = currentRun();
	if (!run) return work();
	const timeout = AbortSignal.timeout(Math.max(0, timeLeftMs() - reserveMs));
	const signal = AbortSignal.any([toAbortSignal(run.signal), timeout]);
	return withinRun({ ...run, signal, endsAt: run.endsAt - reserveMs }, work);
}

/** How a request to Discord's API ended, for metrics. "failed" means without a usable response. */
export type PlatformOutcome = "ok" | "rate_limited" | "client_error" | "server_error" | "failed";

/**
 * Returns the options for a discord.js REST client, which turn off the retries of discord.js. Pass the client to
 * `guardRest`, too. The second parameter is called after every request that was sent.
 */
export function restOptions(
	api: string,
	onResponse: (outcome: PlatformOutcome) => void = () => {},
	guard = new RequestGuard(),
	queue = new RequestQueue(),
) {
	const waitForPause = async (signal: AbortSignal) => {
		for (let pause = guard.pause; pause; pause = guard.pause) {
			if (exceedsWait(pause)) {
				guard.rejectedCount += 1;
				throw new PlatformBusy(pause.why, pause.waitMs);
			}
			await sleep(pause.waitMs, undefined, { signal });
		}
	};
	const makeRequest: RESTOptions["makeRequest"] = async (url, init) => {
		const signal = init.signal as AbortSignal;
		await waitForPause(signal);
		const onAnswer = await takeTurn(queue, signal);
		await waitForPause(signal);
		const request = guard.begin();
		try {
			const response = await send(url, init).finally(onAnswer);
			const { status, headers } = response;
			request.noteResponse(status, headers.get("x-ratelimit-scope"));
			reportRateLimit(headers);
			onResponse(outcomeOf(status));
			if (status === 429) failIfLimitedTooOften(headers);
			return response;
		} catch (error) {
			if (error instanceof PlatformBusy) throw error;
			if (error instanceof ForeignResponse) {
				request.noteForeignResponse(error.status, error.retryAfterMs);
				error.pauseMs = guard.pause?.waitMs ?? 0;
				onResponse(outcomeOf(error.status));
			} else onResponse("failed");
			throw error;
		}
	};
	return {
		api,
		retries: 0,
		timeout: platformTimeoutMs,
		makeRequest,
		rejectOnRateLimit,
		// Our queue has this limit. discord.js's own would make urgent requests wait for others.
		globalRequestsPerSecond: Infinity,
	};
}

async function takeTurn(queue: RequestQueue, signal: AbortSignal): Promise<() => void> {
	const { priority } = currentCall() ?? { priority: "other" };
	if (!priority) return () => {};
	try {
		return await queue.turn(priority, signal);
	} catch (error) {
		if (error instanceof QueueFull) throw new PlatformBusy("rate limit", error.retryAfterMs);
		throw error;
	}
}

function exceedsWait({ why, waitMs }: Pause): boolean {
	const { endsAt = Infinity } = currentCall() ?? {};
	const isLate = performance.now() + waitMs > endsAt;
	return why !== "foreign response" || waitMs > maxPauseWaitMs || isLate;
}

function reportRateLimit(headers: ResponseLike["headers"]): void {
	const numberIn = (name: string) => Number(headers.get(`x-ratelimit-${name}`) ?? Number.NaN);
	const limit = numberIn("limit");
	const remaining = numberIn("remaining");
	const resetAfterMs = numberIn("reset-after") * 1_000;
	if (Number.isFinite(limit + remaining + resetAfterMs))
		scope.getStore()?.onRateLimitState?.({ limit, remaining, resetAfterMs });
}

/** Returns true if waiting for Discord's rate limit would exceed the deadline of the current request. */
function rejectOnRateLimit({ retryAfter, timeToReset }: RateLimitData) {
	const { endsAt = Infinity } = currentCall() ?? {};
	return performance.now() + Math.max(retryAfter, timeToReset) > endsAt;
}

/**
 * Throws a PlatformBusy error if the current request was rate limited too often. Otherwise discord.js would retry the
 * request endlessly.
 */
function failIfLimitedTooOften(headers: ResponseLike["headers"]): void {
	const call = currentCall();
	if (!call) return;
	call.rateLimits += 1;
	if (call.rateLimits < maxRateLimits) return;
	const retryAfterMs = Number(headers.get("retry-after")) * 1000;
	throw new PlatformBusy("rate limit", Math.max(retryAfterMs, 1000));
}

/** Returns how a request that got a response with this HTTP status ended, for metrics. */
export function outcomeOf(status: number): PlatformOutcome {
	if (status === 429) return "rate_limited";
	if (status >= 500) return "server_error";
	return status >= 400 ? "client_error" : "ok";
}

async function send(url: string, init: Parameters<RESTOptions["makeRequest"]>[1]): Promise<ResponseLike> {
	const call = currentCall();
	const note = (state: Call["state"]) => {
		if (call) call.state = state;
	};
	note("sent");
	try {
		const response = await fetch(url, {
			// The type is undici's; Bun's fetch takes the same fields.
			...(init as object),
			// Bun retries DELETE and PUT when a kept-alive connection drops.
			keepalive: init.method !== "DELETE" && init.method !== "PUT",
			// A redirect would carry the token, and with 307 a write, to another server.
			redirect: "manual",
		});
		// discord.js's queue will retry it.
		if (response.status === 429) note("refused");
		if (call) call.status = response.status;
		return await readResponse(response);
	} catch (error) {
		const { code, syscall } = error as NodeJS.ErrnoException;
		// Bun's code, the system's code, and failed name resolution.
		const refused = code === "ConnectionRefused" || code === "ECONNREFUSED";
		if (refused || syscall === "getaddrinfo") note("refused");
		throw error;
	}
}

type Request = REST["request"];

export interface GuardOptions {
	/** Timeout of one request to Discord's API, including its wait in the queue. */
	timeoutMs: number;
	/** Returns a signal that aborts after `ms` milliseconds. Default: AbortSignal.timeout. */
	timeoutSignal?: ((ms: number) => AbortSignal) | undefined;
	/** Called whenever Discord answers 401 to a request with the bot's token. */
	onUnauthorized(): void;
}

/**
 * Gives every request of a discord.js REST client a deadline and repeats failed reads once. If a request fails, its
 * error states whether Discord may have carried it out. Call this before the first request.
 */
export function guardRest(
	rest: REST,
	{ timeoutMs, timeoutSignal = (ms) => AbortSignal.timeout(ms), onUnauthorized }: GuardOptions,
): void {
	// discord.js clears the token after a 401, which would fail every later call.
	const setToken = rest.setToken.bind(rest);
	rest.setToken = (token: string | null) => (token === null ? rest : setToken(token));

	followMonotonicClock(rest);

	const original: Request = rest.request.bind(rest);
	rest.request = async (options) => {
		const run = currentRun();
		const isRead = isReadOnly(options);
		if (!isRead && run && !run.mayWrite)
			throw new Error(`this tool call may only read from Discord, but tried to send a ${options.method} request`);
		if (!isRead) run?.beforeWrite?.();
		const timeout = timeoutSignal(timeoutMs);
		const signals = [timeout, options.signal, run && toAbortSignal(run.signal)];
		const signal = AbortSignal.any(signals.filter((one) => one != null));
		const reason = takesReason(options) ? (options.reason ?? run?.reason) : undefined;
		const request = { ...options, signal, ...(reason && { reason }) };
		const ownDeadline = performance.now() + timeoutMs;
		const endsAt = run ? Math.min(ownDeadline, run.endsAt) : ownDeadline;
		const priority = priorityOf(options);
		const send = () => requestOnce(original, request, isRead, { endsAt, priority });
		try {
			return await send();
		} catch (error) {
			// A 401 for a webhook token does not concern the bot's token.
			const is401 = error instanceof DiscordAPIError && error.status === 401;
			if (is401 && options.auth !== false) onUnauthorized();
			if (isRead && isWorthRepeating(error)) return send();
			throw error;
		}
	};
}

/**
 * Returns how urgent a request is; undefined for requests without the bot's token, such as responses to interactions.
 * Discord applies the bot's global rate limit only to requests with its token, and not to interactions.
 * https://discord.com/developers/docs/topics/rate-limits#global-rate-limit
 */
function priorityOf(request: InternalRequest): Priority | undefined {
	if (request.auth === false) return undefined;
	if (stopsHarm(request)) return "protection";
	const { run, isBackground } = scope.getStore() ?? {};
	if (run) return "call";
	return isBackground ? "background" : "other";
}

function isWorthRepeating(error: unknown): boolean {
	if (!(error instanceof PlatformFailure)) return false;
	const { cause } = error;
	return cause instanceof ForeignResponse
		? cause.status >= 500 && cause.pauseMs <= maxPauseWaitMs
		: !(cause instanceof UnusableResponse);
}

/**
 * Whether a request only reads. Creating a DM channel counts as reading, because Discord returns the channel if it
 * already exists.
 */
function isReadOnly({ method, fullRoute }: InternalRequest): boolean {
	return method === RequestMethod.Get || fullRoute === Routes.userChannels();
}

/** Whether a request is Discord's Create Message request. */
export function createsMessage({ method, fullRoute }: InternalRequest) {
	const isMessages = /^\/channels\/\d+\/messages$/.test(fullRoute);
	return isMessages && method === RequestMethod.Post;
}

function takesReason(options: InternalRequest): boolean {
	return !createsMessage(options) && !isReadOnly(options);
}

async function requestOnce(
	request: Request,
	options: InternalRequest & { signal: AbortSignal },
	isRead: boolean,
	limits: Pick<Call, "endsAt" | "priority">,
): Promise<unknown> {
	const call: Call = { state: "waiting", rateLimits: 0, status: 0, ...limits };
	const outcome = (): Outcome => {
		if (call.state !== "sent") return "not sent";
		return isRead ? "read" : "unknown";
	};
	const { signal } = options;
	const { promise: timedOut, reject } = Promise.withResolvers<never>();
	const end = () => reject(new PlatformTimeout(outcome()));
	if (signal.aborted) throw new PlatformTimeout("not sent");
	signal.addEventListener("abort", end, { once: true });
	try {
		const responded = withScope({ call }, () => request(options));
		const response = await Promise.race([responded, timedOut]);
		const { method, fullRoute: path } = options;
		const problem = findResponseProblem(method, path, call.status, response);
		if (problem !== undefined) throw new UnusableResponse(call.status, problem);
		return response;
	} catch (error) {
		hideToken(options.fullRoute, error);
		if (signal.aborted) throw new PlatformTimeout(outcome());
		if (error instanceof RateLimitError)
			throw new PlatformBusy("rate limit", Math.max(error.retryAfter, error.timeToReset), { cause: error });
		if (error instanceof PlatformBusy) throw error;
		if (error instanceof DiscordAPIError || call.state === "waiting") throw error;
		const wasRefused = error instanceof UnusableResponse && error.status >= 400 && error.status < 500;
		throw new PlatformFailure(wasRefused ? "refused" : outcome(), error);
	} finally {
		if (!isRead && call.state === "sent") currentRun()?.onWrite?.();
		signal.removeEventListener("abort", end);
	}
}

function hideToken(path: string, error: unknown): void {
	const [, token] = /^\/(?:webhooks|interactions)\/\d+\/([^/?]+)/.exec(path) ?? [];
	if (token === undefined || !(error instanceof Error)) return;
	const fields = error as unknown as Record<string, unknown>;
	for (const name of Object.getOwnPropertyNames(error)) {
		const value = fields[name];
		if (typeof value === "string" && value.includes(token)) fields[name] = value.replaceAll(token, "…");
	}
	hideToken(path, error.cause);
}
