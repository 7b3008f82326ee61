// The one place where discord.js's request queue meets the deadline of a call.
//
// discord.js takes no signal in its own methods, does not count its queue's sleeps, and repeats writes. Here every
// platform call, from entering the queue to the last byte of its answer, has 10 s; a write is sent at most once; a
// read that failed on the way is sent once more. What would have to wait for longer than it has ends at once.

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
import { type Signal, toAbortSignal } from "../../lib/signal.ts";
import { type Pause, RequestGuard } from "./request-guard.ts";
import {
	type Answer,
	ForeignAnswer,
	readAnswer,
	UnusableAnswer,
} from "./rest-answer.ts";
import { followMonotonicClock } from "./rest-clock.ts";
import { faultOf } from "./rest-promises.ts";

/** What one platform call may take, waiting in the queue included. */
export const platformTimeoutMs = 10_000;

/** A pause after a foreign answer that ends sooner is waited for: that of a single page with 5xx. */
const maxPauseWaitMs = 1_000;

/** How often one call is sent again after a rate limit that had already ended. */
const maxRateLimits = 5;

/** What became of a request that brought no answer, as far as it can be known. */
export type Fate =
	/** It never left, or Discord turned it away (429): nothing was done. */
	| "not sent"
	/** It was turned away (4xx) with an answer that cannot be read: nothing was done. */
	| "refused"
	/** It changes nothing, wherever it got to. */
	| "read"
	/** It was sent: it may have been carried out. */
	| "unknown";

/** A platform call that ran out of time. */
export class PlatformTimeout extends Error {
	override name = "PlatformTimeout";
	constructor(readonly fate: Fate) {
		super("Discord API request timed out");
	}
}

/** A platform call that brought no usable answer: the connection was lost, or Discord answered 5xx. */
export class PlatformFailure extends Error {
	override name = "PlatformFailure";
	constructor(
		readonly fate: Fate,
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

/** A platform call that was not sent, because it would have had to wait for longer than it has. */
export class PlatformBusy extends Error {
	override name = "PlatformBusy";
	constructor(
		/** Who asks for the wait: Discord, or we ourselves, so that it does not block us. */
		readonly why: "rate limit" | Pause["why"],
		/** How long from now until it may be sent, in milliseconds. */
		readonly retryAfterMs: number,
		options?: ErrorOptions,
	) {
		super(`not sent for ${Math.ceil(retryAfterMs)} ms: ${why}`, options);
	}
}

/** Whether a request that failed has certainly changed nothing. */
export function wasNotDone(error: unknown): boolean {
	if (error instanceof PlatformTimeout || error instanceof PlatformFailure)
		return error.fate !== "unknown";
	return error instanceof DiscordAPIError || error instanceof PlatformBusy;
}

/** One request on its way: in the queue, handed to the network, or turned away before anything was done. */
interface Call {
	state: "waiting" | "sent" | "refused";
	/** How often Discord has answered it 429. */
	rateLimits: number;
	/** That of the latest answer. */
	status: number;
	/** When its time is up, by `performance.now()`. */
	readonly endsAt: number;
}

/** A tool at work, as far as its platform calls are concerned. */
export interface ToolRun {
	/** Ends every platform call of the tool. */
	signal: Signal;
	/** When its time is up, by `performance.now()`. */
	endsAt: number;
	/** What goes into the guild's audit log with every write. */
	reason: string | undefined;
	/** While false, a write is a bug: the tool only reads, or is still making its plan. */
	mayWrite: boolean;
	/** Is told when a write has been sent that Discord may have carried out. */
	onWrite?(): void;
}

const currentCall = new AsyncLocalStorage<Call>();
const currentRun = new AsyncLocalStorage<ToolRun>();

/** What is left of the rate limit that a request has counted into. */
export interface Allowance {
	/** How many requests it lets pass within its time. */
	limit: number;
	/** How many more until it begins anew. */
	remaining: number;
	resetAfterMs: number;
}

const allowanceNote = new AsyncLocalStorage<(left: Allowance) => void>();

/** Runs `work`; with each answer of Discord's to it that says what is left of its rate limit, calls `note`. */
export function notingAllowance<T>(
	note: (left: Allowance) => void,
	work: () => Promise<T>,
): Promise<T> {
	return allowanceNote.run(note, work);
}

/** Runs `work`, its platform calls bound by `run`. */
export function withinRun<T>(run: ToolRun, work: () => Promise<T>): Promise<T> {
	return currentRun.run(run, work);
}

/** The tool at work has made its plan, and acts on it from now on. */
export function permitWrites(): void {
	const run = currentRun.getStore();
	if (run) run.mayWrite = true;
}

/** What is left of the time of the tool at work, in milliseconds. */
export function timeLeftMs(): number {
	const { endsAt = Infinity } = currentRun.getStore() ?? {};
	return endsAt - performance.now();
}

/** Runs `work`, its platform calls ending `reserveMs` before the tool has to: time to say what became of them. */
export function endingEarlier<T>(
	reserveMs: number,
	work: () => Promise<T>,
): Promise<T> {
	const run = currentRun.getStore();
	if (!run) return work();
	const timeout = AbortSignal.timeout(Math.max(0, timeLeftMs() - reserveMs));
	const signal = AbortSignal.any([toAbortSignal(run.signal), timeout]);
	return withinRun({ ...run, signal, endsAt: run.endsAt - reserveMs }, work);
}

/** What Discord answered, in a word: "failed" is no answer. */
export type PlatformOutcome =
	| "ok"
	| "rate_limited"
	| "client_error"
	| "server_error"
	| "failed";

/**
 * Options of a REST manager that `guardRest` then guards: it sends through here and repeats nothing by itself.
 * `onAnswer` is told of every request that was sent; `guard` says when none may be.
 */
export function restOptions(
	api: string,
	onAnswer: (outcome: PlatformOutcome) => void = () => {},
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
			onAnswer(outcomeOf(status));
			if (status === 429) endRepetition(headers);
			return answer;
		} catch (error) {
			if (error instanceof PlatformBusy) throw error;
			if (error instanceof ForeignAnswer) {
				request.answeredByOther(error.status, error.retryAfterMs);
				error.pauseMs = guard.pause?.waitMs ?? 0;
				onAnswer(outcomeOf(error.status));
			} else onAnswer("failed");
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
	const { endsAt = Infinity } = currentCall.getStore() ?? {};
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
		allowanceNote.getStore()?.(left);
}

/** Whether a request that a rate limit holds up would be late. */
function rejectOnRateLimit({ retryAfter, timeToReset }: RateLimitData) {
	const { endsAt = Infinity } = currentCall.getStore() ?? {};
	return performance.now() + Math.max(retryAfter, timeToReset) > endsAt;
}

/** Ends a call that has been rate limited too often: discord.js would send it again for as long as the waits are short. */
function endRepetition(headers: Headers): void {
	const call = currentCall.getStore();
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

/** Sends a request and reads its whole answer. */
async function send(
	url: string,
	init: Parameters<RESTOptions["makeRequest"]>[1],
): Promise<Answer> {
	const call = currentCall.getStore();
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
			// To follow one would carry the token, and with 307 a write, to another place.
			redirect: "manual",
		});
		// The queue will send it anew.
		if (response.status === 429) note("refused");
		if (call) call.status = response.status;
		return await readAnswer(response);
	} catch (error) {
		const { code, syscall } = error as NodeJS.ErrnoException;
		// Bun's name for it, and the system's; and a host name that stands for no address.
		const refused = code === "ConnectionRefused" || code === "ECONNREFUSED";
		if (refused || syscall === "getaddrinfo") note("refused");
		throw error;
	}
}

type Request = REST["request"];

export interface GuardOptions {
	/** What one call may take, waiting in the queue included. */
	timeoutMs: number;
	/** Fires when `timeoutMs` have passed; by the system's timer unless it is given. */
	timeoutSignal?: ((ms: number) => AbortSignal) | undefined;
	/** Is told of every 401. */
	onUnauthorized(): void;
}

/**
 * Makes every call of `rest` end in time, with an error that says what became of it. To be called before the first request.
 */
export function guardRest(
	rest: REST,
	{
		timeoutMs,
		timeoutSignal = (ms) => AbortSignal.timeout(ms),
		onUnauthorized,
	}: GuardOptions,
): void {
	// After one 401 the manager would forget the token, and every later call would fail for good.
	const setToken = rest.setToken.bind(rest);
	rest.setToken = (token: string | null) =>
		token === null ? rest : setToken(token);

	followMonotonicClock(rest);

	const original: Request = rest.request.bind(rest);
	rest.request = async (options) => {
		const run = currentRun.getStore();
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
			// A webhook's token that is refused says nothing of the bot's.
			const ownToken = options.auth !== false;
			if (ownToken && error instanceof DiscordAPIError && error.status === 401)
				onUnauthorized();
			if (reads && isWorthRepeating(error)) return send();
			throw error;
		}
	};
}

/** Whether the same request may bring another answer, at once or after a pause that is waited for. */
function isWorthRepeating(error: unknown): boolean {
	if (!(error instanceof PlatformFailure)) return false;
	const { cause } = error;
	return cause instanceof ForeignAnswer
		? cause.status >= 500 && cause.pauseMs <= maxPauseWaitMs
		: !(cause instanceof UnusableAnswer);
}

/** Whether a request changes nothing that anybody can see: the channel of two people is asked for by making it. */
function readsOnly({
	method,
	fullRoute,
}: Pick<Parameters<Request>[0], "method" | "fullRoute">): boolean {
	return method === RequestMethod.Get || fullRoute === Routes.userChannels();
}

/** Whether a request may say why, for the audit log: what is read is not in it, nor what is written to people. */
function takesReason(
	options: Pick<Parameters<Request>[0], "method" | "fullRoute">,
): boolean {
	const { method, fullRoute } = options;
	const says =
		method === RequestMethod.Post &&
		/^\/channels\/\d+\/messages$/.test(fullRoute);
	return !says && !readsOnly(options);
}

async function requestOnce(
	request: Request,
	options: Parameters<Request>[0] & { signal: AbortSignal },
	reads: boolean,
	endsAt: number,
): Promise<unknown> {
	const call: Call = { state: "waiting", rateLimits: 0, status: 0, endsAt };
	const fate = (): Fate => {
		if (call.state !== "sent") return "not sent";
		return reads ? "read" : "unknown";
	};
	const { signal } = options;
	const { promise: late, reject } = Promise.withResolvers<never>();
	const end = () => reject(new PlatformTimeout(fate()));
	if (signal.aborted) throw new PlatformTimeout("not sent");
	signal.addEventListener("abort", end, { once: true });
	try {
		const answered = currentCall.run(call, () => request(options));
		const answer = await Promise.race([answered, late]);
		const { method, fullRoute } = options;
		const fault = faultOf(method, fullRoute, call.status, answer);
		if (fault !== undefined) throw new UnusableAnswer(call.status, fault);
		return answer;
	} catch (error) {
		hideToken(options.fullRoute, error);
		if (signal.aborted) throw new PlatformTimeout(fate());
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
		throw new PlatformFailure(turnedAway ? "refused" : fate(), error);
	} finally {
		if (!reads && call.state === "sent") currentRun.getStore()?.onWrite?.();
		signal.removeEventListener("abort", end);
	}
}

/** Whoever knows the token in a path may write: no error shows it, in whatever it says of the request. */
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
