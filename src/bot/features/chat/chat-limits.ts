// Limits of AI chat that a guild does not set: concurrent answers per person and guild, and notices.

import { Overloaded, Semaphore } from "../../../lib/semaphore.ts";
import { Limiter } from "../../commands/cooldown.ts";

const windowMs = 60_000;
const maxWaitingPerPerson = 2;
const maxConcurrent = 3;
const maxWaiting = 10;
const maxWaitMs = 60_000;
const maxNotices = 5;

export function createLimits(options: { now?: () => number; maxWaitMs?: number } = {}) {
	const { now = () => performance.now() } = options;
	const notified = new Limiter({ max: 1, windowMs, now });
	const notices = new Limiter({ max: maxNotices, windowMs, now });
	const semaphores = new Map<string, Semaphore>();

	async function acquire(key: string, max: number, maxWaiting: number, signal: AbortSignal): Promise<() => void> {
		const limits = { max, maxWaiting, maxWaitMs: options.maxWaitMs ?? maxWaitMs };
		const semaphore = semaphores.get(key) ?? new Semaphore(limits);
		semaphores.set(key, semaphore);
		await semaphore.acquire(signal);
		let isHeld = true;
		return () => {
			if (isHeld) semaphore.release();
			isHeld = false;
			if (semaphore.held === 0) semaphores.delete(key);
		};
	}

	return {
		mayNotify: (guildId: string, userId: string) =>
			notices.hasRoom(guildId) && notified.accepts(userId) && notices.accepts(guildId),
		/** Resolves with a function to call after the answer; undefined if the queue is full or slow. Rejects on abort. */
		async acquire(guildId: string, userId: string, signal: AbortSignal) {
			const held: (() => void)[] = [];
			const release = () => {
				for (const one of held) one();
			};
			try {
				// First the person's own, so that nobody waits for two answers to one person.
				held.push(await acquire(`${guildId} ${userId}`, 1, maxWaitingPerPerson, signal));
				held.push(await acquire(guildId, maxConcurrent, maxWaiting, signal));
				signal.throwIfAborted();
				return release;
			} catch (error) {
				release();
				if (error instanceof Overloaded) return undefined;
				throw error;
			}
		},
	};
}
