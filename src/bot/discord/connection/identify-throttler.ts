// Rate limit for identifying to Discord's Gateway.

import { setTimeout as sleep } from "node:timers/promises";

/**
 * Returns a function that resolves when the bot may identify to Discord's Gateway: once per `intervalMs`, Discord's
 * rate limit for a bot with one shard. The function rejects when its `signal` aborts first. `now` is a monotonic clock,
 * in milliseconds.
 * https://discord.com/developers/docs/events/gateway#rate-limiting
 *
 * `signal` must abort when the connection closes. discord.js's own throttler keeps waiting instead, and then identifies
 * on the next connection: a second time, so that Discord closes it, or before it is open, which ends the process.
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
