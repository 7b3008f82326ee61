// Rate limit for identifying to Discord's Gateway.

import { setTimeout as sleep } from "node:timers/promises";

/**
 * Returns a function that resolves when the bot may identify to Discord's Gateway: once per `intervalMs`, Discord's
 * rate limit for a bot with one shard. It rejects when its `signal` aborts, which must happen when the connection
 * closes. `now` is a monotonic clock, in milliseconds.
 * https://discord.com/developers/docs/events/gateway#rate-limiting
 *
 * discord.js's own throttler keeps waiting after the connection closes and identifies on the next connection. If that
 * connection has already identified, Discord closes it; if it is not open yet, the process crashes.
 */
export function createIdentifyThrottler(
	intervalMs: number,
	now = () => performance.now(),
) {
	let nextAt = -Infinity;
	return async (signal: AbortSignal): Promise<void> => {
		for (;;) {
			signal.throwIfAborted();
			const ms = nextAt - now();
			if (ms <= 0) break;
			await sleep(ms, undefined, { signal });
		}
		nextAt = now() + intervalMs;
	};
}
