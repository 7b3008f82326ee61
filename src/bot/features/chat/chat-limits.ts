// Limits of AI chat: questions per person, concurrent answers per person and guild, and notices about reached limits.

import { Limiter } from "../../commands/cooldown.ts";

export const maxQuestions = 10;
const windowMs = 60_000;
const maxWaitingPerPerson = 2;
const maxConcurrent = 3;
const maxWaiting = 10;
const maxWaitMs = 60_000;
const maxNotices = 5;

interface LimitsOptions {
	now?: () => number;
	maxWaitMs?: number;
}

export function createLimits({ now = () => performance.now(), ...options }: LimitsOptions = {}) {
	const questions = new Limiter({ max: maxQuestions, windowMs, now });
	const notified = new Limiter({ max: 1, windowMs, now });
	const notices = new Limiter({ max: maxNotices, windowMs, now });
	const take = (limiter: Limiter, key: string) => limiter.take(key).waitS === 0;
	const queues = new Map<string, GuildQueue>();

	return {
		countQuestion: (userId: string) => take(questions, userId),
		mayNotify: (guildId: string, userId: string) =>
			notices.hasRoom(guildId) && take(notified, userId) && take(notices, guildId),
		/** Resolves with a function to call after the answer; undefined if the queue is full or slow. Rejects on abort. */
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

class GuildQueue {
	readonly #active = new Set<string>();
	readonly #waiters = new Set<Waiter>();

	get isIdle(): boolean {
		return this.#active.size + this.#waiters.size === 0;
	}

	async acquire(userId: string, signal: AbortSignal, maxMs: number): Promise<boolean> {
		signal.throwIfAborted();
		if (this.#hasSlotFor(userId)) {
			this.#active.add(userId);
			return true;
		}
		const own = [...this.#waiters].filter((other) => other.userId === userId);
		if (own.length >= maxWaitingPerPerson || this.#waiters.size >= maxWaiting) return false;
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
