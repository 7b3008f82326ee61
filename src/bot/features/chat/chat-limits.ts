// Limits of AI chat: questions per person, concurrent answers per person and guild, and notices about reached limits.

import { Limiter } from "../../commands/cooldown.ts";

/** Questions of a person within `windowMs`. */
export const maxQuestions = 10;
const windowMs = 60_000;
/** Waiting questions per person, beside the one being answered. */
const maxWaitingPerPerson = 2;
/** Maximum number of concurrent answers per guild. */
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

export function createLimits({
	now = () => performance.now(),
	...options
}: LimitsOptions = {}) {
	const questions = new Limiter({ max: maxQuestions, windowMs, now });
	const notified = new Limiter({ max: 1, windowMs, now });
	const notices = new Limiter({ max: maxNotices, windowMs, now });
	const take = (limiter: Limiter, key: string) => limiter.take(key).waitS === 0;
	const queues = new Map<string, GuildQueue>();

	return {
		/** Counts a question. Returns false when it exceeds the person's limit. */
		countQuestion: (userId: string) => take(questions, userId),
		/** Whether to notify a person about a limit: once per window, and few people per guild. Counts a notice if so. */
		mayNotify: (guildId: string, userId: string) =>
			notices.hasRoom(guildId) &&
			take(notified, userId) &&
			take(notices, guildId),
		/**
		 * Waits for a slot in the guild. Resolves with its release function, or undefined when the queue is full or the wait
		 * takes too long. Rejects with the signal's reason.
		 */
		async acquire(guildId: string, userId: string, signal: AbortSignal) {
			const queue = queues.get(guildId) ?? new GuildQueue();
			queues.set(guildId, queue);
			const dropIdle = () => {
				if (queue.isIdle) queues.delete(guildId);
			};
			const waitMs = options.maxWaitMs ?? maxWaitMs;
			const acquired = queue.acquire(userId, signal, waitMs).finally(dropIdle);
			if (!(await acquired)) return undefined;
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
	readonly #active = new Set<string>();
	readonly #waiters = new Set<Waiter>();

	get isIdle(): boolean {
		return this.#active.size + this.#waiters.size === 0;
	}

	/** Waits for a slot, at most `maxMs`. Returns whether it was acquired. Rejects with the signal's reason. */
	async acquire(
		userId: string,
		signal: AbortSignal,
		maxMs: number,
	): Promise<boolean> {
		signal.throwIfAborted();
		if (this.#hasSlotFor(userId)) {
			this.#active.add(userId);
			return true;
		}
		const own = [...this.#waiters].filter((other) => other.userId === userId);
		if (own.length >= maxWaitingPerPerson || this.#waiters.size >= maxWaiting)
			return false;
		const { promise, resolve } = Promise.withResolvers<boolean>();
		const waiter = { userId, resolve };
		this.#waiters.add(waiter);
		const leaveQueue = () => {
			this.#waiters.delete(waiter);
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
		this.#active.delete(userId);
		for (const waiter of this.#waiters)
			if (this.#hasSlotFor(waiter.userId)) {
				this.#waiters.delete(waiter);
				this.#active.add(waiter.userId);
				waiter.resolve(true);
			}
	}

	#hasSlotFor(userId: string): boolean {
		return this.#active.size < maxConcurrent && !this.#active.has(userId);
	}
}
