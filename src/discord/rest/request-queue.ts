// Discord's global rate limit: 50 requests per second for all routes together. Without this queue, discord.js would
// send them in order of creation. https://discord.com/developers/docs/topics/rate-limits#global-rate-limit

import { type InternalRequest, RequestMethod } from "discord.js";
import type { Signal } from "../../lib/signal.ts";

/**
 * Most urgent first: against someone who does harm; of a tool call; such as the reply to a chat command; what can
 * wait.
 */
const priorities = ["protection", "call", "other", "background"] as const;

export type Priority = (typeof priorities)[number];

/** Of the global rate limit. The rest is kept free for more urgent requests. */
const shares: Record<Priority, number> = { protection: 1, call: 0.9, other: 0.6, background: 0.4 };

const windowMs = 1_050;

const maxTravelMs = 1_000;

const maxWaiting = 2_000;

export class QueueFull extends Error {
	override name = "QueueFull";
	constructor(readonly retryAfterMs: number) {
		super(`${maxWaiting} requests wait for Discord's global rate limit`);
	}
}

interface RequestQueueOptions {
	/** Default: 50, Discord's global rate limit. */
	perSecond?: number | undefined;
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

export class RequestQueue {
	readonly #perSecond: number;
	readonly #now: () => number;
	readonly #schedule: (work: () => void, ms: number) => void;
	/** Those that Discord may still count. */
	#sent: Sent[] = [];
	readonly #waiting: Readonly<Record<Priority, Set<(sent: Sent) => void>>> = {
		protection: new Set(),
		call: new Set(),
		other: new Set(),
		background: new Set(),
	};
	#nextAt = Infinity;
	#isClosed = false;

	constructor({
		perSecond = 50,
		now = () => performance.now(),
		schedule = (work, ms) => void setTimeout(work, ms),
	}: RequestQueueOptions = {}) {
		this.#perSecond = perSecond;
		this.#now = now;
		this.#schedule = schedule;
	}

	get waiting(): number {
		let count = 0;
		for (const priority of priorities) count += this.#waiting[priority].size;
		return count;
	}

	/** Resolves with what to call when the response has arrived. Rejects when `signal` aborts, and with QueueFull. */
	async turn(priority: Priority, signal: Signal): Promise<() => void> {
		const sent =
			this.waiting === 0 && !this.#isClosed && this.#waitMs(priority) === 0
				? this.#add()
				: await this.#wait(priority, signal);
		return () => {
			sent.answeredAt = this.#now();
		};
	}

	/** Waiting requests fail when their signals abort. */
	close(): void {
		this.#isClosed = true;
	}

	async #wait(priority: Priority, signal: Signal): Promise<Sent> {
		if (signal.aborted) throw signal.reason;
		const queue = this.#waiting[priority];
		if (queue.size >= maxWaiting) throw new QueueFull((this.waiting / this.#perSecond) * 1_000);
		const { promise, resolve, reject } = Promise.withResolvers<Sent>();
		const leave = () => {
			queue.delete(resolve);
			reject(signal.reason);
		};
		queue.add(resolve);
		signal.addEventListener("abort", leave);
		this.#dispatch();
		try {
			return await promise;
		} finally {
			signal.removeEventListener("abort", leave);
		}
	}

	#add(): Sent {
		const sent = { sentAt: this.#now(), answeredAt: undefined };
		this.#sent.push(sent);
		return sent;
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
				go(this.#add());
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

/** Bans, kicks, timeouts, and pauses of invites and direct messages. */
export function stopsHarm({
	method,
	fullRoute,
	body,
}: Pick<InternalRequest, "method" | "fullRoute" | "body">): boolean {
	const route = `${method} ${fullRoute}`;
	if (/^(PUT|POST) \/guilds\/\d+\/(bans\/\d+|bulk-ban|incident-actions)$/.test(route)) return true;
	if (!/^(DELETE|PATCH) \/guilds\/\d+\/members\/\d+$/.test(route)) return false;
	if (method === RequestMethod.Delete) return true;
	const { communication_disabled_until: until } = (body ?? {}) as { communication_disabled_until?: string | null };
	return until != null;
}
