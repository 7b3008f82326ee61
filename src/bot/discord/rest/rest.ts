// Deadlines for discord.js's REST requests.
//
// discord.js takes no signal in its own methods, does not count the time that a request waits in its queue, and repeats
// writes. Here every platform call has 10 s from entering the queue to the last byte of the response; a write is sent at
// most once; a read that failed is sent once more. A call that would have to wait past its deadline fails at once.

import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import {
	DiscordAPIError,
	HTTPError,
	type RateLimitData,
	RateLimitError,
	type REST,
	type RESTOptions,
	RequestMethod,
	Routes,
} from "discord.js";
import { type Signal, toAbortSignal } from "../../../lib/signal.ts";
import { followMonotonicClock } from "./rate-limit-clock.ts";
import { type Pause, RequestGuard } from "./request-guard.ts";
import {
	type Answer,
	ForeignAnswer,
	readAnswer,
	UnusableAnswer,
} from "./response.ts";
import { faultOf } from "./response-schemas.ts";

/** For one platform call, its wait in the queue included. */
export const platformTimeoutMs = 10_000;

/** A shorter pause after a foreign answer is waited for: that of a single page with 5xx. */
const maxPauseWaitMs = 1_000;

/** How often one call may be rate limited. */
const maxRateLimits = 5;

/** What is known of a request that brought no response. */
export type Outcome =
	/** It was not sent, or rate limited (429): nothing was done. */
	| "not sent"
	/** It was refused (4xx) with a response that cannot be read: nothing was done. */
	| "refused"
	/** It only reads: nothing was done. */
	| "read"
	/** It was sent, and Discord may have carried it out. */
	| "unknown";

/** A platform call that timed out. */
export class PlatformTimeout extends Error {
	override name = "PlatformTimeout";
	constructor(readonly outcome: Outcome) {
		super("Discord API request timed out");
	}
}

/** A platform call without a usable response: the connection was lost, or Discord answered 5xx. */
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
	if (cause instanceof HTTPError)
		return `${cause.status} ${cause.message}`.trim();
	return cause instanceof Error ? cause.message : String(cause);
}

/** A platform call that was not sent, because it would have had to wait past its deadline. */
export class PlatformBusy extends Error {
	override name = "PlatformBusy";
	constructor(
		/** Discord's rate limit, or a pause of ours to avoid an IP ban. */
		readonly why: "rate limit" | Pause["why"],
		/** How long from now until it may be sent, in milliseconds. */
		readonly retryAfterMs: number,
		options?: ErrorOptions,
	) {
		super(`not sent for ${Math.ceil(retryAfterMs)} ms: ${why}`, options);
	}
}

/** Whether a failed request has certainly changed nothing. */
export function wasNotDone(error: unknown): boolean {
	if (error instanceof PlatformTimeout || error instanceof PlatformFailure)
		return error.outcome !== "unknown";
	return error instanceof DiscordAPIError || error instanceof PlatformBusy;
}

/** One request: in the queue, sent, or refused before anything was done. */
interface Call {
	state: "waiting" | "sent" | "refused";
	/** How often Discord has answered it 429. */
	rateLimits: number;
	/** Of the last response. */
	status: number;
	/** Its deadline, by `performance.now()`. */
	readonly endsAt: number;
}

/** What binds the platform calls of a running tool. */
export interface ToolRun {
	/** Aborts every platform call of the tool. */
	signal: Signal;
	/** Its deadline, by `performance.now()`. */
	endsAt: number;
	/** For the guild's audit log, with every write. */
	reason: string | undefined;
	/** While false, a write is a bug: the tool only reads, or is still making its plan. */
	mayWrite: boolean;
	/** Called when a write has been sent that Discord may have carried out. */
	onWrite?(): void;
}

/** What the code that runs now was called for. */
interface Scope {
	run?: ToolRun;
	call?: Call;
	onAllowance?: (left: Allowance) => void;
}

const scope = new AsyncLocalStorage<Scope>();

function withScope<T>(added: Scope, work: () => T): T {
	return scope.run({ ...scope.getStore(), ...added }, work);
}

const currentRun = () => scope.getStore()?.run;
const currentCall = () => scope.getStore()?.call;

/** What is left of a rate limit after a request that counted against it. */
export interface Allowance {
	/** Requests per window. */
	limit: number;
	/** Requests left in this window. */
	remaining: number;
	resetAfterMs: number;
}

/** Runs `work` and calls `onAllowance` for each response that says what is left of its rate limit. */
export function notingAllowance<T>(
	onAllowance: (left: Allowance) => void,
	work: () => Promise<T>,
): Promise<T> {
	return withScope({ onAllowance }, work);
}

/** Runs `work` with its platform calls bound by `run`. */
export function withinRun<T>(run: ToolRun, work: () => Promise<T>): Promise<T> {
	return withScope({ run }, work);
}

/** Lets the running tool write: its plan is made. */
export function permitWrites(): void {
	const run = currentRun();
	if (run) run.mayWrite = true;
}

/** Milliseconds until the deadline of the running tool; Infinity outside of one. */
export function timeLeftMs(): number {
	const { endsAt = Infinity } = currentRun() ?? {};
	return endsAt - performance.now();
}

/** Runs `work` with a deadline `reserveMs` before the tool's own, which leaves time to report what was done. */
export function endingEarlier<T>(
	reserveMs: number,
	work: () => Promise<T>,
): Promise<T> {
	const run = currentRun();
	if (!run) return work();
	const timeout = AbortSignal.timeout(Math.max(0, timeLeftMs() - reserveMs));
	const signal = AbortSignal.any([toAbortSignal(run.signal), timeout]);
	return withinRun({ ...run, signal, endsAt: run.endsAt - reserveMs }, work);
}

/** How a request ended, for metrics. "failed": without a response. */
export type PlatformOutcome =
	| "ok"
	| "rate_limited"
	| "client_error"
	| "server_error"
	| "failed";

/**
 * Options for a REST manager that is then passed to `guardRest`: requests are sent here, and never repeated by discord.js.
 * `onResponse` is called for every request that was sent; `guard` decides when none may be.
 */
export function restOptions(
	api: string,
	onResponse: (outcome: PlatformOutcome) => void = () => {},
	guard = new RequestGuard(),
) {
	const makeRequest: RESTOptions["makeRequest"] = async (url, init) => {
		for (let pause = guard.pause; pause; pause = guard.pause) {
			if (isTooLong(pause)) {
				guard.heldBack += 1;
				throw new PlatformBusy(pause.why, pause.waitMs);
			}
			await sleep(pause.waitMs, undefined, {
				signal: init.signal as AbortSignal,
			});
		}
		const request = guard.begin();
		try {
			const answer = await send(url, init);
			const { status, headers } = answer;
			request.answered(status, headers.get("x-ratelimit-scope"));
			noteAllowance(headers);
			onResponse(outcomeOf(status));
			if (status === 429) endRepetition(headers);
			return answer;
		} catch (error) {
			if (error instanceof PlatformBusy) throw error;
			if (error instanceof ForeignAnswer) {
				request.answeredByOther(error.status, error.retryAfterMs);
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
	};
}

function isTooLong({ why, waitMs }: Pause): boolean {
	const { endsAt = Infinity } = currentCall() ?? {};
	const isLate = performance.now() + waitMs > endsAt;
	return why !== "foreign answer" || waitMs > maxPauseWaitMs || isLate;
}

function noteAllowance(headers: { get(name: string): string | null }): void {
	const [limit, remaining, resetAfter] = ["limit", "remaining", "reset-after"]
		.map((name) => headers.get(`x-ratelimit-${name}`))
		.map((value) => (value === null ? Number.NaN : Number(value)));
	const left = {
		limit: limit ?? Number.NaN,
		remaining: remaining ?? Number.NaN,
		resetAfterMs: (resetAfter ?? Number.NaN) * 1_000,
	};
	if (Object.values(left).every(Number.isFinite))
		scope.getStore()?.onAllowance?.(left);
}

/** Whether waiting for a rate limit would exceed the deadline. */
function rejectOnRateLimit({ retryAfter, timeToReset }: RateLimitData) {
	const { endsAt = Infinity } = currentCall() ?? {};
	return performance.now() + Math.max(retryAfter, timeToReset) > endsAt;
}

/** Ends a call that was rate limited too often: discord.js would repeat it for as long as the waits are short. */
function endRepetition(headers: Headers): void {
	const call = currentCall();
	if (!call) return;
	call.rateLimits += 1;
	if (call.rateLimits < maxRateLimits) return;
	const askedMs = Number(headers.get("retry-after")) * 1000;
	throw new PlatformBusy("rate limit", Math.max(askedMs, 1000));
}

function outcomeOf(status: number): PlatformOutcome {
	if (status === 429) return "rate_limited";
	if (status >= 500) return "server_error";
	return status >= 400 ? "client_error" : "ok";
}

/** Sends a request and reads its whole response. */
async function send(
	url: string,
	init: Parameters<RESTOptions["makeRequest"]>[1],
): Promise<Answer> {
	const call = currentCall();
	const note = (state: Call["state"]) => {
		if (call) call.state = state;
	};
	note("sent");
	try {
		const response = await fetch(url, {
			// Typed after undici, whose fetch is not the one that runs here.
			...(init as object),
			// Bun itself sends DELETE and PUT again over a kept connection that drops.
			keepalive: init.method !== "DELETE" && init.method !== "PUT",
			// A redirect would carry the token, and with 307 a write, to another server.
			redirect: "manual",
		});
		// The queue will send it again.
		if (response.status === 429) note("refused");
		if (call) call.status = response.status;
		return await readAnswer(response);
	} catch (error) {
		const { code, syscall } = error as NodeJS.ErrnoException;
		// Bun's name for it, and the system's; and a host name without an address.
		const refused = code === "ConnectionRefused" || code === "ECONNREFUSED";
		if (refused || syscall === "getaddrinfo") note("refused");
		throw error;
	}
}

type Request = REST["request"];

export interface GuardOptions {
	/** What one call may take, waiting in the queue included. */
	timeoutMs: number;
	/** Aborts after `timeoutMs`. Default: AbortSignal.timeout. */
	timeoutSignal?: ((ms: number) => AbortSignal) | undefined;
	/** Called for every 401. */
	onUnauthorized(): void;
}

/**
 * Gives every call of `rest` a deadline, and errors that say whether it was carried out. Call it before the first request.
 */
export function guardRest(
	rest: REST,
	{
		timeoutMs,
		timeoutSignal = (ms) => AbortSignal.timeout(ms),
		onUnauthorized,
	}: GuardOptions,
): void {
	// After one 401 the manager would forget the token, and every later call would fail.
	const setToken = rest.setToken.bind(rest);
	rest.setToken = (token: string | null) =>
		token === null ? rest : setToken(token);

	followMonotonicClock(rest);

	const original: Request = rest.request.bind(rest);
	rest.request = async (options) => {
		const run = currentRun();
		const reads = readsOnly(options);
		if (!reads && run && !run.mayWrite)
			throw new Error(`a tool that may not write sent ${options.method}`);
		const timeout = timeoutSignal(timeoutMs);
		const signals = [timeout, options.signal, run && toAbortSignal(run.signal)];
		const signal = AbortSignal.any(signals.filter((one) => one != null));
		const reason = takesReason(options)
			? (options.reason ?? run?.reason)
			: undefined;
		const bound = { ...options, signal, ...(reason && { reason }) };
		const own = performance.now() + timeoutMs;
		const endsAt = run ? Math.min(own, run.endsAt) : own;
		const send = () => requestOnce(original, bound, reads, endsAt);
		try {
			return await send();
		} catch (error) {
			// A refused webhook token says nothing about the bot's.
			const ownToken = options.auth !== false;
			if (ownToken && error instanceof DiscordAPIError && error.status === 401)
				onUnauthorized();
			if (reads && isWorthRepeating(error)) return send();
			throw error;
		}
	};
}

/** Whether the same request may get another response, at once or after a pause that is waited for. */
function isWorthRepeating(error: unknown): boolean {
	if (!(error instanceof PlatformFailure)) return false;
	const { cause } = error;
	return cause instanceof ForeignAnswer
		? cause.status >= 500 && cause.pauseMs <= maxPauseWaitMs
		: !(cause instanceof UnusableAnswer);
}

/** Whether a request changes nothing that people can see. A DM channel is looked up by creating it. */
function readsOnly({
	method,
	fullRoute,
}: Pick<Parameters<Request>[0], "method" | "fullRoute">): boolean {
	return method === RequestMethod.Get || fullRoute === Routes.userChannels();
}

/** Whether a request may carry a reason for the audit log: reads and messages are not in it. */
function takesReason(
	options: Pick<Parameters<Request>[0], "method" | "fullRoute">,
): boolean {
	const { method, fullRoute } = options;
	const isMessage =
		method === RequestMethod.Post &&
		/^\/channels\/\d+\/messages$/.test(fullRoute);
	return !isMessage && !readsOnly(options);
}

async function requestOnce(
	request: Request,
	options: Parameters<Request>[0] & { signal: AbortSignal },
	reads: boolean,
	endsAt: number,
): Promise<unknown> {
	const call: Call = { state: "waiting", rateLimits: 0, status: 0, endsAt };
	const outcome = (): Outcome => {
		if (call.state !== "sent") return "not sent";
		return reads ? "read" : "unknown";
	};
	const { signal } = options;
	const { promise: late, reject } = Promise.withResolvers<never>();
	const end = () => reject(new PlatformTimeout(outcome()));
	if (signal.aborted) throw new PlatformTimeout("not sent");
	signal.addEventListener("abort", end, { once: true });
	try {
		const answered = withScope({ call }, () => request(options));
		const answer = await Promise.race([answered, late]);
		const { method, fullRoute } = options;
		const fault = faultOf(method, fullRoute, call.status, answer);
		if (fault !== undefined) throw new UnusableAnswer(call.status, fault);
		return answer;
	} catch (error) {
		hideToken(options.fullRoute, error);
		if (signal.aborted) throw new PlatformTimeout(outcome());
		if (error instanceof RateLimitError)
			throw new PlatformBusy(
				"rate limit",
				Math.max(error.retryAfter, error.timeToReset),
				{ cause: error },
			);
		if (error instanceof PlatformBusy) throw error;
		if (error instanceof DiscordAPIError || call.state === "waiting")
			throw error;
		const turnedAway =
			error instanceof UnusableAnswer &&
			error.status >= 400 &&
			error.status < 500;
		throw new PlatformFailure(turnedAway ? "refused" : outcome(), error);
	} finally {
		if (!reads && call.state === "sent") currentRun()?.onWrite?.();
		signal.removeEventListener("abort", end);
	}
}

/** Replaces the token in a path, which lets anyone write, in all texts of an error and of its causes. */
function hideToken(path: string, error: unknown): void {
	const [, token] =
		/^\/(?:webhooks|interactions)\/\d+\/([^/?]+)/.exec(path) ?? [];
	if (token === undefined || !(error instanceof Error)) return;
	const fields = error as unknown as Record<string, unknown>;
	for (const name of Object.getOwnPropertyNames(error)) {
		const value = fields[name];
		if (typeof value === "string" && value.includes(token))
			fields[name] = value.replaceAll(token, "…");
	}
	hideToken(path, error.cause);
}
