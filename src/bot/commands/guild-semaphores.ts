// Limits work for people in a guild: one at a time of each person, and some of the guild. Others wait in order.

import { Overloaded, Semaphore } from "../../lib/semaphore.ts";

export interface GuildLimits {
	/** In a guild, at the same time. */
	max: number;
	maxWaiting: number;
	/** Of one person in a guild. */
	maxOwnWaiting: number;
	maxWaitMs: number;
}

export class GuildSemaphores {
	readonly #semaphores = new Map<string, Semaphore>();

	constructor(private readonly limits: GuildLimits) {}

	/** A function to call after the work, or whose queue is full or slow. Rejects with the reason of an abort. */
	async acquire(guildId: string, userId: string, signal: AbortSignal): Promise<(() => void) | "own" | "guild"> {
		const { max, maxWaiting, maxOwnWaiting, maxWaitMs } = this.limits;
		const held: (() => void)[] = [];
		const release = () => {
			for (const one of held.splice(0)) one();
		};
		const acquire = async (key: string, limits: { max: number; maxWaiting: number }) => {
			const semaphore = this.#semaphores.getOrInsertComputed(key, () => new Semaphore({ ...limits, maxWaitMs }));
			await semaphore.acquire(signal);
			held.push(() => {
				semaphore.release();
				if (semaphore.held === 0) this.#semaphores.delete(key);
			});
		};
		try {
			// First the person's own, so that nobody waits for two of one person.
			await acquire(`${guildId} ${userId}`, { max: 1, maxWaiting: maxOwnWaiting });
			await acquire(guildId, { max, maxWaiting });
			signal.throwIfAborted();
			return release;
		} catch (error) {
			const full = held.length === 0 ? "own" : "guild";
			release();
			if (error instanceof Overloaded) return full;
			throw error;
		}
	}
}
