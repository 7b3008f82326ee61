// Rate limit for identifying to Discord's Gateway. discord.js's own throttler keeps waiting after the connection closes
// and identifies on the next connection. If that connection has already identified, Discord closes it; if it is not open
// yet, the process crashes.

import { setTimeout as sleep } from "node:timers/promises";

/**
 * Returns a function that waits until the bot may identify to Discord's Gateway. Discord allows a bot with one shard to
 * identify once per `intervalMs`. The wait rejects when its AbortSignal aborts.
 * https://discord.com/developers/docs/events/gateway#rate-limiting
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
