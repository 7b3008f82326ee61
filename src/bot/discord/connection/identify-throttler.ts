// Rate limit for identifying to Discord's Gateway.

import { setTimeout as sleep } from "node:timers/promises";
import type { IIdentifyThrottler } from "discord.js";

/** Discord allows one login per 5 seconds; the rest allows for varying network latency. */
const defaultIntervalMs = 5_500;

/**
 * Delays identifying to Discord's rate limit, across all clients of a bot with one shard.
 * https://discord.com/developers/docs/events/gateway#rate-limiting
 *
 * A wait ends when its connection closes. With discord.js's own throttler it continues and then identifies on the
 * replacement connection: a second time, which Discord answers with a close, or before it is open, which ends the process.
 */
export class IdentifyThrottler implements IIdentifyThrottler {
	#nextAt = -Infinity;

	constructor(
		readonly intervalMs = defaultIntervalMs,
		/** A monotonic clock, in milliseconds. */
		readonly now: () => number = () => performance.now(),
	) {}

	/** Resolves when the bot may identify. Rejects when `signal` aborts first. */
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
