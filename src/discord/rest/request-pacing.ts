// When requests are sent: the most urgent first within Discord's global rate limit, and none during a pause after too many
// invalid ones, or after a foreign response: one that is not from Discord's API.

import type { InternalRequest, REST } from "discord.js";
import { doubledMs } from "../../lib/back-off.ts";
import { SlidingWindow } from "../../lib/sliding-window.ts";
import { sleep } from "../../lib/wait.ts";
import { ForeignResponse } from "./response.ts";

/**
 * Most urgent first: against someone who does harm; of a command that a person on Discord waits for; of a client's tool
 * call; such as the reply to a chat command; what can wait.
 */
const priorities = ["protection", "person", "call", "other", "background"] as const;

export type Priority = (typeof priorities)[number];

/** Of the global rate limit. The rest is kept free for more urgent requests. */
const shares: Record<Priority, number> = { protection: 1, person: 0.96, call: 0.9, other: 0.6, background: 0.4 };

const windowMs = 1_050;
const maxTravelMs = 1_000;
const maxWaiting = 2_000;

const invalidWindowMs = 10 * 60_000;
/** Doubles with each in a row. A guess: proxies in front of Discord return a single 502 or 503 now and then. */
const firstPauseMs = { failed: 1_000, refused: 5_000 };
/** A guess: failing servers recover soon, but a block of the IP address lasts. */
const maxPauseMs = { failed: 60_000, refused: 10 * 60_000 };
const maxRetryAfterMs = 60 * 60_000;
/** A longer pause fails a request instead of delaying it. */
export const maxPauseWaitMs = 1_000;

export interface Pause {
	why: "invalid requests" | "foreign response";
	waitMs: number;
	/** Of the foreign response. */
	status?: number;
}

/** Not carried out, because it would have waited too long. */
export class PlatformBusy extends Error {
	override name = "PlatformBusy";
	constructor(
		readonly why: "rate limit" | Pause["why"],
		readonly retryAfterMs: number,
		options?: ErrorOptions,
	) {
		super(`busy for ${Math.ceil(retryAfterMs)} ms: ${why}`, options);
	}
}

interface PacingOptions {
	/** Default: 50, Discord's limit for all routes together. https://discord.com/developers/docs/topics/rate-limits#global-rate-limit */
	perSecond?: number | undefined;
	/**
	 * Invalid requests (401, 403, 429) in ten minutes after which all pause. Default: 1,000. Discord bans an IP address, which
	 * several bots may share, after 10,000.
	 * https://discord.com/developers/docs/topics/rate-limits#invalid-request-limit-aka-cloudflare-bans
	 */
	maxInvalid?: number;
	onPause?(pause: Pause): void;
	/** Monotonic, in milliseconds. */
	now?(): number;
	/** Default: setTimeout. */
	schedule?(work: () => void, ms: number): void;
}

/** Discord counts it at some time between request and response. */
interface Sent {
	sentAt: number;
	answeredAt: number | undefined;
}

export class RequestPacing {
	/** Because of a pause. */
	rejectedCount = 0;
	readonly #perSecond: number;
	readonly #onPause: (pause: Pause) => void;
	readonly #now: () => number;
	readonly #schedule: (work: () => void, ms: number) => void;
	/** Those that Discord may still count. */
	#sent: Sent[] = [];
	readonly #waiting = Object.fromEntries(priorities.map((one) => [one, new Set()])) as Record<
		Priority,
		Set<() => void>
	>;
	#nextAt = Infinity;
	#isClosed = false;
	readonly #invalid: SlidingWindow;
	#pause: Pause | undefined;
	#pauseEndsAt = -Infinity;
	#foreignPauseAt = -Infinity;
	#foreignInARow = 0;

	constructor({
		perSecond = 50,
		maxInvalid = 1_000,
		onPause = () => {},
		now = () => performance.now(),
		schedule = (work, ms) => void setTimeout(work, ms),
	}: PacingOptions = {}) {
		this.#perSecond = perSecond;
		this.#onPause = onPause;
		this.#now = now;
		this.#schedule = schedule;
		this.#invalid = new SlidingWindow({ max: maxInvalid, windowMs: invalidWindowMs, now });
	}

	get waiting(): number {
		return priorities.reduce((count, priority) => count + this.#waiting[priority].size, 0);
	}

	/** Answered with 401, 403 or 429, in the last 10 minutes. */
	get invalidCount(): number {
		return this.#invalid.count;
	}

	get pause(): Pause | undefined {
		const waitMs = this.#pauseEndsAt - this.#now();
		return this.#pause && waitMs > 0 ? { ...this.#pause, waitMs } : undefined;
	}

	/**
	 * Resolves when the request may be sent, with what to call at its end. Rejects when `signal` aborts, and with
	 * PlatformBusy. `priority`: undefined without the bot's token, to which alone the global limit applies.
	 */
	async begin(priority: Priority | undefined, signal: AbortSignal, endsAt = Infinity) {
		await this.#passPause(signal, endsAt);
		const sent = { sentAt: this.#now(), answeredAt: undefined as number | undefined };
		if (priority !== undefined) {
			await this.#turn(priority, signal, sent);
			await this.#passPause(signal, endsAt);
		}
		const sentAt = this.#now();
		return {
			responded: (status: number, scope: string | null) => {
				sent.answeredAt = this.#now();
				this.#noteInvalid(status, scope);
				if (sentAt > this.#foreignPauseAt) this.#foreignInARow = 0;
			},
			failed: (error: unknown) => {
				sent.answeredAt = this.#now();
				if (!(error instanceof ForeignResponse)) return;
				this.#noteForeign(error, sentAt);
				error.pauseMs = this.pause?.waitMs ?? 0;
			},
		};
	}

	/** Waiting requests fail when their signals abort. */
	close(): void {
		this.#isClosed = true;
	}

	async #passPause(signal: AbortSignal, endsAt: number): Promise<void> {
		for (let { pause } = this; pause; { pause } = this) {
			const { why, waitMs } = pause;
			if (why !== "foreign response" || waitMs > maxPauseWaitMs || performance.now() + waitMs > endsAt) {
				this.rejectedCount += 1;
				throw new PlatformBusy(why, waitMs);
			}
			await sleep(waitMs, signal);
		}
	}

	/** A 429 with the scope "shared" does not count. */
	#noteInvalid(status: number, scope: string | null): void {
		if (status !== 401 && status !== 403 && (status !== 429 || scope === "shared")) return;
		this.#invalid.add();
		this.#pauseFor({ why: "invalid requests", waitMs: this.#invalid.waitMs });
	}

	#noteForeign({ status, retryAfterMs }: ForeignResponse, sentAt: number): void {
		this.#noteInvalid(status, null);
		const isOld = sentAt <= this.#foreignPauseAt;
		if (isOld && retryAfterMs === undefined) return;
		if (!isOld) this.#foreignInARow += 1;
		const kind = status >= 500 ? "failed" : "refused";
		const doubled = doubledMs(this.#foreignInARow - 1, [firstPauseMs[kind], maxPauseMs[kind]]);
		const waitMs = Math.min(retryAfterMs ?? doubled, maxRetryAfterMs);
		if (this.#pauseFor({ why: "foreign response", waitMs, status }) && !isOld) this.#foreignPauseAt = this.#now();
	}

	/** Returns whether no other pause lasts as long. */
	#pauseFor(next: Pause): boolean {
		const before = this.pause;
		if (next.waitMs <= (before?.waitMs ?? 0)) return false;
		this.#pause = next;
		this.#pauseEndsAt = this.#now() + next.waitMs;
		if (!before) this.#onPause(next);
		return true;
	}

	async #turn(priority: Priority, signal: AbortSignal, sent: Sent): Promise<void> {
		const { promise, resolve, reject } = Promise.withResolvers<void>();
		const go = () => {
			sent.sentAt = this.#now();
			this.#sent.push(sent);
			resolve();
		};
		if (this.waiting === 0 && !this.#isClosed && this.#waitMs(priority) === 0) return go();
		signal.throwIfAborted();
		const queue = this.#waiting[priority];
		if (queue.size >= maxWaiting) throw new PlatformBusy("rate limit", (this.waiting / this.#perSecond) * 1_000);
		const leave = () => {
			queue.delete(go);
			reject(signal.reason);
		};
		queue.add(go);
		signal.addEventListener("abort", leave);
		this.#dispatch();
		try {
			await promise;
		} finally {
			signal.removeEventListener("abort", leave);
		}
	}

	#dispatch(): void {
		if (this.#isClosed) return;
		for (const priority of priorities)
			for (const go of this.#waiting[priority]) {
				const ms = this.#waitMs(priority);
				if (ms > 0) {
					this.#dispatchIn(ms);
					return;
				}
				this.#waiting[priority].delete(go);
				go();
			}
	}

	#dispatchIn(ms: number): void {
		const at = this.#now() + ms;
		if (at >= this.#nextAt) return;
		this.#nextAt = at;
		this.#schedule(() => {
			this.#nextAt = Infinity;
			this.#dispatch();
		}, Math.ceil(ms));
	}

	#waitMs(priority: Priority): number {
		const max = Math.max(1, Math.floor(this.#perSecond * shares[priority]));
		if (this.#sent.length < max) return 0;
		const now = this.#now();
		const countedUntil = ({ sentAt, answeredAt = now }: Sent) => Math.min(answeredAt, sentAt + maxTravelMs) + windowMs;
		this.#sent = this.#sent.filter((one) => countedUntil(one) > now).sort((a, b) => countedUntil(a) - countedUntil(b));
		const oldest = this.#sent[this.#sent.length - max];
		return oldest ? countedUntil(oldest) - now : 0;
	}
}

/** Bans, kicks, timeouts, slow mode, and pauses of invites and direct messages. */
export function stopsHarm({
	method,
	fullRoute,
	body,
}: Pick<InternalRequest, "method" | "fullRoute" | "body">): boolean {
	const route = `${method} ${fullRoute}`;
	if (/^(PUT|POST) \/guilds\/\d+\/(bans\/\d+|bulk-ban|incident-actions)$/.test(route)) return true;
	if (/^DELETE \/guilds\/\d+\/members\/\d+$/.test(route)) return true;
	if (!/^PATCH \/(guilds\/\d+\/members|channels)\/\d+$/.test(route)) return false;
	const { communication_disabled_until: until, rate_limit_per_user: slowMode } = Object(body);
	return until != null || slowMode > 0;
}

/**
 * discord.js stores the ends of rate limits as wall clock time: a clock set back by an hour would block a route for an
 * hour.
 */
export function followMonotonicClock(rest: REST): void {
	keepMonotonic(rest, "globalReset");
	const { handlers } = rest;
	const set = handlers.set.bind(handlers);
	handlers.set = (id, handler) => {
		// The queue for interaction callbacks has no rate limit.
		if ("reset" in handler && typeof handler.reset === "number") keepMonotonic(handler as { reset: number }, "reset");
		return set(id, handler);
	};
}

/** Shifts this time, in epoch milliseconds, with the system clock. */
function keepMonotonic<Key extends string>(target: Record<Key, number>, key: Key): void {
	const offsetMs = () => performance.now() - Date.now();
	let at = target[key] + offsetMs();
	Object.defineProperty(target, key, {
		get: () => at - offsetMs(),
		set: (time: number) => {
			at = time + offsetMs();
		},
	});
}
