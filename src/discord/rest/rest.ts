// Deadlines for discord.js's requests. Its own methods take no signal, its timeout excludes the wait in its queue, and
// it retries writes. Here a request has 10 s with the queue and the response, a write is sent at most once, and a
// failed read is repeated once.
//
// Create Message requests carry a nonce. If a response is lost, the same request is sent again, and Discord returns the
// message that it has already created. https://docs.discord.com/developers/resources/message#create-message
// Webhooks and interactions have no such nonce (https://github.com/discord/discord-api-docs/pull/6647), nor have forum posts.

import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";
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
import { doubledMs } from "../../lib/back-off.ts";
import { Semaphore } from "../../lib/semaphore.ts";
import { type Signal, toAbortSignal } from "../../lib/signal.ts";
import { sleep } from "../../lib/wait.ts";
import { isForPeople } from "../acting-person.ts";
import {
	followMonotonicClock,
	maxPauseWaitMs,
	PlatformBusy,
	type Priority,
	RequestPacing,
	stopsHarm,
} from "./request-pacing.ts";
import { ForeignResponse, readResponse, UnusableResponse } from "./response.ts";

export { PlatformBusy };

/** With the wait in the queue. */
export const platformTimeoutMs = 10_000;

const maxRateLimits = 5;

/** Requests of tool calls at once. Enough for 50 a second while a response takes at most 320 ms. */
const maxPerCaller = 16;

const maxResolveMs = 60_000;
const maxResends = 4;
const resendTimeoutMs = 5_000;
/** The first pause and the maximum: the first request may still be in progress. */
export const resendPauseMs: readonly [number, number] = [500, 4_000];

export type Outcome =
	/** Also if it was rate limited (429): nothing was done. */
	| "not sent"
	/** 4xx, with a response that cannot be read: nothing was done. */
	| "refused"
	| "read"
	/** Discord may have carried it out. */
	| "unknown";

export class PlatformTimeout extends Error {
	override name = "PlatformTimeout";
	constructor(readonly outcome: Outcome) {
		super("Discord API request timed out");
	}
}

/** The connection was lost, or Discord responded 5xx. */
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

export function isOutcomeUnknown(error: unknown): error is PlatformTimeout | PlatformFailure {
	return (error instanceof PlatformTimeout || error instanceof PlatformFailure) && error.outcome === "unknown";
}

export function wasNotDone(error: unknown): boolean {
	if (error instanceof PlatformTimeout || error instanceof PlatformFailure) return !isOutcomeUnknown(error);
	return error instanceof DiscordAPIError || error instanceof PlatformBusy;
}

interface Call {
	state: "waiting" | "sent" | "refused";
	rateLimits: number;
	status?: number;
	readonly method: string;
	readonly path: string;
	readonly endsAt: number;
	readonly priority: Priority | undefined;
}

export interface ToolRun {
	signal: Signal;
	/** Id of the principal. */
	caller?: string | undefined;
	/** In milliseconds of `performance.now()`. */
	endsAt: number;
	/** Sent with every request that changes something. */
	reason: string | undefined;
	/** False until the tool has planned its changes: writes throw. */
	mayWrite: boolean;
	/** Whether a person will be shown the plan. */
	isReviewed?: boolean;
	/** If it throws, the request is not sent. */
	beforeWrite?: (() => void) | undefined;
	/** If it throws, the tool stores nothing. */
	beforeStore?: (() => void) | undefined;
	/** After a write that Discord may have carried out. */
	onWrite?(): void;
	/** When a tool that changes several objects knows the outcome of one. */
	onItem?: ((id: string, outcome: ItemOutcome) => void) | undefined;
}

export type ItemOutcome = "done" | "not done" | "unknown";

interface Scope {
	run?: ToolRun;
	call?: Call;
	onRateLimitState?: (state: RateLimitState) => void;
	onRequest?: OnRequest;
	isBackground?: boolean;
}

const scope = new AsyncLocalStorage<Scope>();

function withScope<T>(added: Scope, work: () => T): T {
	return scope.run({ ...scope.getStore(), ...added }, work);
}

/** Undefined if no tool is running. */
export const currentRun = () => scope.getStore()?.run;

function currentCall(): Call {
	const { call } = scope.getStore() ?? {};
	if (!call) throw new Error("a request to Discord without a deadline: guardRest has to come first");
	return call;
}

export interface RateLimitState {
	limit: number;
	remaining: number;
	resetAfterMs: number;
}

export interface DiscordAnswer {
	/** Undefined: none that can be used. */
	status: number | undefined;
	/** Of Discord's error. */
	code?: number | string | undefined;
}

/** Called when a request begins; what it returns, when the request has ended. */
export type OnRequest = (request: { method: string; path: string }) => (answer: DiscordAnswer) => void;

export function observeRequests<T>(onRequest: OnRequest, work: () => Promise<T>): Promise<T> {
	return withScope({ onRequest }, work);
}

/** For each response to a request of `work` that has rate limit headers. */
export function observeRateLimit<T>(
	onRateLimitState: (state: RateLimitState) => void,
	work: () => Promise<T>,
): Promise<T> {
	return withScope({ onRateLimitState }, work);
}

export function withinRun<T>(run: ToolRun, work: () => Promise<T>): Promise<T> {
	return withScope({ run }, work);
}

/** Calls `onItem` for each object whose outcome `work` reports with `noteItem`. */
export function noteItems<T>(onItem: NonNullable<ToolRun["onItem"]>, work: () => Promise<T>): Promise<T> {
	const run = currentRun();
	if (!run) return work();
	const both: typeof onItem = (...item) => {
		run.onItem?.(...item);
		onItem(...item);
	};
	return withinRun({ ...run, onItem: both }, work);
}

export function noteItem(id: string, outcome: ItemOutcome): void {
	currentRun()?.onItem?.(id, outcome);
}

/** Requests of `work` wait until those of tools and commands are sent. */
export function inBackground<T>(work: () => Promise<T>): Promise<T> {
	return withScope({ isBackground: true }, work);
}

/** The running tool has planned its changes. */
export function permitWrites(): void {
	const run = currentRun();
	if (run) run.mayWrite = true;
}

/** Call it before a tool stores what it does: throws in a call that only checks whether it is allowed. */
export function permitStoring(): void {
	currentRun()?.beforeStore?.();
}

/** Of the running tool; Infinity if there is none. */
export function timeLeftMs(): number {
	const { endsAt = Infinity } = currentRun() ?? {};
	return endsAt - performance.now();
}

/** Aborts with the running tool, if there is one, or one of these. */
export function signalOfRun(...signals: readonly (AbortSignal | null | undefined)[]): AbortSignal {
	const run = currentRun();
	return AbortSignal.any([...signals, run && toAbortSignal(run.signal)].filter((one) => one != null));
}

/** Leaves `reserveMs` of the running tool's time for reporting the result. */
export function endingEarlier<T>(reserveMs: number, work: () => Promise<T>): Promise<T> {
	const run = currentRun();
	if (!run) return work();
	const signal = signalOfRun(AbortSignal.timeout(Math.max(0, timeLeftMs() - reserveMs)));
	return withinRun({ ...run, signal, endsAt: run.endsAt - reserveMs }, work);
}

/** For metrics. "failed": without a usable response. */
export type PlatformOutcome = "ok" | "rate_limited" | "client_error" | "server_error" | "failed";

export interface OutcomeCounter {
	add(labels: readonly [PlatformOutcome]): void;
}

/** Without discord.js's retries. For a client that is passed to `guardRest`, too. `responses` counts what follows each request, by outcome. */
export function restOptions(api: string, responses?: OutcomeCounter, pacing = new RequestPacing()) {
	const makeRequest: RESTOptions["makeRequest"] = async (url, init) => {
		const call = currentCall();
		const request = await pacing.begin(call.priority, init.signal as AbortSignal, call.endsAt);
		try {
			const response = await send(url, init, call);
			const { status, headers } = response;
			call.status = status;
			request.responded(status, headers.get("x-ratelimit-scope"));
			reportRateLimit(headers);
			responses?.add([outcomeOf(status)]);
			if (status === 429) failIfLimitedTooOften(headers, call);
			return response;
		} catch (error) {
			if (error instanceof PlatformBusy) throw error;
			request.failed(error);
			responses?.add([error instanceof ForeignResponse ? outcomeOf(error.status) : "failed"]);
			throw error;
		}
	};
	return {
		api,
		retries: 0,
		timeout: platformTimeoutMs,
		makeRequest,
		rejectOnRateLimit: ({ retryAfter, timeToReset }: RateLimitData) =>
			performance.now() + Math.max(retryAfter, timeToReset) > currentCall().endsAt,
		// Ours has this limit. discord.js's own would make urgent requests wait for others.
		globalRequestsPerSecond: Infinity,
	};
}

function reportRateLimit(headers: ResponseLike["headers"]): void {
	const numberIn = (name: string) => Number(headers.get(`x-ratelimit-${name}`) ?? Number.NaN);
	const limit = numberIn("limit");
	const remaining = numberIn("remaining");
	const resetAfterMs = numberIn("reset-after") * 1_000;
	if (Number.isFinite(limit + remaining + resetAfterMs))
		scope.getStore()?.onRateLimitState?.({ limit, remaining, resetAfterMs });
}

/** discord.js would retry endlessly. */
function failIfLimitedTooOften(headers: ResponseLike["headers"], call: Call): void {
	call.rateLimits += 1;
	if (call.rateLimits < maxRateLimits) return;
	throw new PlatformBusy("rate limit", Math.max(Number(headers.get("retry-after")) * 1000, 1000));
}

export function outcomeOf(status: number): PlatformOutcome {
	if (status === 429) return "rate_limited";
	if (status >= 500) return "server_error";
	return status >= 400 ? "client_error" : "ok";
}

async function send(url: string, init: Parameters<RESTOptions["makeRequest"]>[1], call: Call): Promise<ResponseLike> {
	call.state = "sent";
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
		if (response.status === 429) call.state = "refused";
		return await readResponse(response, call.method, call.path);
	} catch (error) {
		const { code, syscall } = error as NodeJS.ErrnoException;
		// Bun's code, the system's code, and failed name resolution.
		const refused = code === "ConnectionRefused" || code === "ECONNREFUSED";
		if (refused || syscall === "getaddrinfo") call.state = "refused";
		throw error;
	}
}

type Request = REST["request"];

interface GuardOptions {
	/** With the wait in the queue. */
	timeoutMs: number;
	/** Default: AbortSignal.timeout. */
	timeoutSignal?: ((ms: number) => AbortSignal) | undefined;
	/** Discord answered 401 to a request with the bot's token. */
	onUnauthorized(): void;
	/** Lost messages are not sent again. */
	closing?: AbortSignal;
	pauseMs?: typeof resendPauseMs;
}

/** Gives every request a deadline, and its error an outcome. Call it before the first request. */
export function guardRest(
	rest: REST,
	{ timeoutMs, timeoutSignal = (ms) => AbortSignal.timeout(ms), onUnauthorized, ...resending }: GuardOptions,
): void {
	// discord.js clears the token after a 401, which would fail every later call.
	const setToken = rest.setToken.bind(rest);
	rest.setToken = (token: string | null) => (token === null ? rest : setToken(token));

	followMonotonicClock(rest);

	const queue: Request = rest.request.bind(rest);
	const places = new Semaphore({ max: Infinity, maxPerCaller });
	// discord.js's queues and the pacing are first come, first served: a caller that floods waits before them.
	const original: Request = (options) => {
		const { priority } = currentCall();
		const caller = priority === "person" || priority === "call" ? currentRun()?.caller : undefined;
		return caller ? places.run(options.signal as AbortSignal, () => queue(options), caller) : queue(options);
	};
	const request: Request = async (options) => {
		const run = currentRun();
		const isRead = isReadOnly(options);
		if (!isRead && run && !run.mayWrite)
			throw new Error(`this tool call may only read from Discord, but tried to send a ${options.method} request`);
		if (!isRead) run?.beforeWrite?.();
		const signal = signalOfRun(timeoutSignal(timeoutMs), options.signal);
		const reason = !createsMessage(options) && !isRead ? (options.reason ?? run?.reason) : undefined;
		const limited = { ...options, signal, ...(reason && { reason }) };
		const ownDeadline = performance.now() + timeoutMs;
		const endsAt = run ? Math.min(ownDeadline, run.endsAt) : ownDeadline;
		const priority = priorityOf(options);
		const send = () => requestOnce(original, limited, isRead, { endsAt, priority });
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
	rest.request = (options) => (createsMessage(options) ? sendMessage(request, options, resending) : request(options));
}

type Resending = Pick<GuardOptions, "closing" | "pauseMs">;

async function sendMessage(request: Request, options: InternalRequest, resending: Resending): Promise<unknown> {
	const given = options.body as { nonce?: unknown };
	// Discord allows 25 characters.
	const nonce = given.nonce ?? randomBytes(12).toString("hex");
	const message = { ...options, body: { ...given, nonce, enforce_nonce: true } };
	const endsAt = performance.now() + maxResolveMs;
	try {
		return await request(message);
	} catch (error) {
		if (!isLost(error)) throw error;
		return sendAgain(request, message, error, endsAt, resending);
	}
}

/** A response that arrived but cannot be read is not lost. */
function isLost(error: unknown): error is PlatformTimeout | PlatformFailure {
	if (!isOutcomeUnknown(error)) return false;
	const { cause } = error;
	return cause instanceof ForeignResponse || !(cause instanceof UnusableResponse);
}

/** If that fails, throws the error of the first request. */
async function sendAgain(
	request: Request,
	message: InternalRequest,
	lost: PlatformTimeout | PlatformFailure,
	endsAt: number,
	{ closing, pauseMs = resendPauseMs }: Resending,
): Promise<unknown> {
	const ended = signalOfRun(closing, message.signal);
	let latest: unknown = lost;
	for (let resends = 0; resends < maxResends; resends += 1) {
		const waitMs = Math.max(doubledMs(resends, pauseMs), pauseAfter(latest));
		const leftMs = Math.min(timeLeftMs(), endsAt - performance.now());
		if (waitMs >= leftMs) break;
		try {
			await sleep(waitMs, ended);
			const timeoutMs = Math.min(resendTimeoutMs, leftMs - waitMs);
			const signal = AbortSignal.any([ended, AbortSignal.timeout(timeoutMs)]);
			return await request({ ...message, signal });
		} catch (error) {
			// A refusal does not tell whether the first request was carried out.
			if (error instanceof DiscordAPIError) break;
			if (ended.aborted || error instanceof PlatformTimeout) break;
			latest = error;
		}
	}
	throw lost;
}

/** Because requests are paused or rate limited; otherwise 0. */
function pauseAfter(error: unknown): number {
	if (error instanceof PlatformBusy) return error.retryAfterMs;
	if (!(error instanceof PlatformFailure)) return 0;
	return error.cause instanceof ForeignResponse ? error.cause.pauseMs : 0;
}

/**
 * Undefined without the bot's token, to which alone the limit applies.
 * https://discord.com/developers/docs/topics/rate-limits#global-rate-limit
 */
function priorityOf(request: InternalRequest): Priority | undefined {
	if (request.auth === false) return undefined;
	if (stopsHarm(request)) return "protection";
	const { run, isBackground } = scope.getStore() ?? {};
	if (run) return isForPeople() ? "person" : "call";
	return isBackground ? "background" : "other";
}

function isWorthRepeating(error: unknown): boolean {
	if (!(error instanceof PlatformFailure)) return false;
	const { cause } = error;
	return cause instanceof ForeignResponse
		? cause.status >= 500 && cause.pauseMs <= maxPauseWaitMs
		: !(cause instanceof UnusableResponse);
}

/** Creating a DM channel, too: Discord returns the channel if it already exists. */
function isReadOnly({ method, fullRoute }: InternalRequest): boolean {
	return method === RequestMethod.Get || fullRoute === Routes.userChannels();
}

function createsMessage({ method, fullRoute }: InternalRequest) {
	const isMessages = /^\/channels\/\d+\/messages$/.test(fullRoute);
	return isMessages && method === RequestMethod.Post;
}

async function requestOnce(
	request: Request,
	options: InternalRequest & { signal: AbortSignal },
	isRead: boolean,
	limits: Pick<Call, "endsAt" | "priority">,
): Promise<unknown> {
	const { method, fullRoute: path, signal } = options;
	const call: Call = { state: "waiting", rateLimits: 0, method, path, ...limits };
	const outcome = (): Outcome => {
		if (call.state !== "sent") return "not sent";
		return isRead ? "read" : "unknown";
	};
	const { promise: timedOut, reject } = Promise.withResolvers<never>();
	const end = () => reject(new PlatformTimeout(outcome()));
	if (signal.aborted) throw new PlatformTimeout("not sent");
	signal.addEventListener("abort", end, { once: true });
	const onEnd = scope.getStore()?.onRequest?.({ method, path });
	let code: DiscordAnswer["code"];
	try {
		return await Promise.race([withScope({ call }, () => request(options)), timedOut]);
	} catch (error) {
		hideToken(path, error);
		if (error instanceof DiscordAPIError) code = error.code;
		if (error instanceof UnusableResponse) call.status = error.status;
		if (signal.aborted) throw new PlatformTimeout(outcome());
		if (error instanceof RateLimitError)
			throw new PlatformBusy("rate limit", Math.max(error.retryAfter, error.timeToReset), { cause: error });
		if (error instanceof PlatformBusy) throw error;
		if (error instanceof DiscordAPIError || call.state === "waiting") throw error;
		const wasRefused = error instanceof UnusableResponse && error.status >= 400 && error.status < 500;
		throw new PlatformFailure(wasRefused ? "refused" : outcome(), error);
	} finally {
		if (!isRead && call.state === "sent") currentRun()?.onWrite?.();
		onEnd?.({ status: call.status, code });
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
