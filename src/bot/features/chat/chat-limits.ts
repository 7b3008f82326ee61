// Limits of AI chat: questions per person, concurrent answers per person and guild, and notices about reached limits.

import { createLimiter, type Limiter } from "../../commands/cooldown.ts";

/** Questions of a person within `windowMs`. */
export const maxQuestions = 10;
const windowMs = 60_000;
/** Waiting questions per person, beside the one being answered. */
const maxWaitingPerPerson = 2;
/** Per guild. */
const maxConcurrent = 3;
const maxWaiting = 10;
const maxWaitMs = 60_000;
/** Notices about reached limits per guild within `windowMs`. */
const maxNotices = 5;

export interface LimitsOptions {
	/** Milliseconds of the monotonic clock. */
	now?: () => number;
	maxWaitMs?: number;
}

export interface Limits {
	/** Counts a question. Returns false when it exceeds the person's limit. */
	countQuestion(userId: string): boolean;
	/** Whether to tell a person about a limit: once per window, and few people per guild. Counts as told. */
	mayNotify(guildId: string, userId: string): boolean;
	/**
	 * Waits for a slot in the guild. Resolves with its release function, or undefined when the queue is full or the wait
	 * takes too long. Rejects with the signal's reason.
	 */
	acquire(
		guildId: string,
		userId: string,
		signal: AbortSignal,
	): Promise<(() => void) | undefined>;
}

export function createLimits({
	now = () => performance.now(),
	...options
}: LimitsOptions = {}): Limits {
	const questions = createLimiter({ max: maxQuestions, windowMs, now });
	const notified = createLimiter({ max: 1, windowMs, now });
	const notices = createLimiter({ max: maxNotices, windowMs, now });
	const take = (limiter: Limiter, key: string) => limiter.take(key).waitS === 0;
	const queues = new Map<string, GuildQueue>();

	return {
		countQuestion: (userId) => take(questions, userId),
		mayNotify: (guildId, userId) =>
			notices.hasRoom(guildId) &&
			take(notified, userId) &&
			take(notices, guildId),
		async acquire(guildId, userId, signal) {
			const queue = queues.get(guildId) ?? new GuildQueue();
			queues.set(guildId, queue);
			const dropIdle = () => {
				if (queue.isIdle) queues.delete(guildId);
			};
			const waitMs = options.maxWaitMs ?? maxWaitMs;
			const isAcquired = await queue
				.acquire(userId, signal, waitMs)
				.finally(dropIdle);
			if (!isAcquired) return undefined;
			return () => {
				queue.release(userId);
				dropIdle();
			};
		},
	};
}

interface Waiter {
	userId: string;
	resolve(isAcquired: boolean): void;
}

/** A guild's slots and its first-come, first-served queue. A person holds one slot at most. */
class GuildQueue {
	/** The user id of each slot in use. */
	readonly #active: string[] = [];
	#waiters: readonly Waiter[] = [];

	get isIdle(): boolean {
		return this.#active.length + this.#waiters.length === 0;
	}

	/** Whether a slot was acquired. */
	async acquire(
		userId: string,
		signal: AbortSignal,
		maxMs: number,
	): Promise<boolean> {
		signal.throwIfAborted();
		if (this.#hasSlotFor(userId)) {
			this.#active.push(userId);
			return true;
		}
		const own = this.#waiters.filter((waiter) => waiter.userId === userId);
		if (own.length >= maxWaitingPerPerson || this.#waiters.length >= maxWaiting)
			return false;
		const { promise, resolve } = Promise.withResolvers<boolean>();
		const waiter = { userId, resolve };
		this.#waiters = [...this.#waiters, waiter];
		const leaveQueue = () => {
			this.#waiters = this.#waiters.filter((other) => other !== waiter);
			resolve(false);
		};
		const timer = setTimeout(leaveQueue, maxMs);
		signal.addEventListener("abort", leaveQueue, { once: true });
		const isAcquired = await promise;
		clearTimeout(timer);
		signal.removeEventListener("abort", leaveQueue);
		if (signal.aborted && isAcquired) this.release(userId);
		signal.throwIfAborted();
		return isAcquired;
	}

	release(userId: string): void {
		const index = this.#active.indexOf(userId);
		if (index >= 0) this.#active.splice(index, 1);
		for (const waiter of this.#waiters)
			if (this.#hasSlotFor(waiter.userId)) {
				this.#waiters = this.#waiters.filter((other) => other !== waiter);
				this.#active.push(waiter.userId);
				waiter.resolve(true);
			}
	}

	#hasSlotFor(userId: string): boolean {
		return (
			this.#active.length < maxConcurrent && !this.#active.includes(userId)
		);
	}
}
