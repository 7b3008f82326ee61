// When the bot may log in to Discord's Gateway again.

import { setTimeout as sleep } from "node:timers/promises";
import type { IIdentifyThrottler } from "discord.js";

/** Discord lets a bot log in once in 5 seconds; what the network adds is not always the same. */
const usualIntervalMs = 5_500;

/**
 * Lets a bot with one shard log in, over all of its clients, no more often than Discord does.
 *
 * Whoever waits is let go when its connection closes. discord.js's own throttler lets it wait on, and then logs in over
 * the connection that has taken its place: twice, which Discord answers with another close, or while that is not open
 * yet, which ends the process.
 */
export class IdentifyThrottler implements IIdentifyThrottler {
	#nextAt = -Infinity;

	constructor(
		readonly intervalMs = usualIntervalMs,
		/** A clock that never jumps, in milliseconds. */
		readonly now: () => number = () => performance.now(),
	) {}

	/** Resolves when it is time; rejects when `signal` aborts before. */
	async waitForIdentify(_shard: number, signal: AbortSignal): Promise<void> {
		for (;;) {
			signal.throwIfAborted();
			const ms = this.#nextAt - this.now();
			if (ms <= 0) break;
			await sleep(ms, undefined, { signal });
		}
		this.#nextAt = this.now() + this.intervalMs;
	}
}
