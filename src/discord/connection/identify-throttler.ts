// discord.js's own throttler waits on after the connection has closed and identifies on the next one, which Discord
// then closes, or which is not open yet, so that the process crashes.

import { setTimeout as sleep } from "node:timers/promises";

interface Bucket {
	nextAt: number;
	readonly waiting: { readonly shard: number }[];
}

/**
 * Discord allows one shard per `intervalMs` to identify in each bucket, `shard % maxConcurrency`, in the order of
 * their numbers.
 * https://discord.com/developers/docs/events/gateway#max-concurrency
 */
export function createIdentifyThrottler(intervalMs: number, now = () => performance.now()) {
	const buckets = new Map<number, Bucket>();
	return async (signal: AbortSignal, shard = 0, maxConcurrency = 1): Promise<void> => {
		const bucket = buckets.getOrInsert(shard % maxConcurrency, { nextAt: -Infinity, waiting: [] });
		const { waiting } = bucket;
		const waiter = { shard };
		const after = waiting.findIndex((other) => other.shard > shard);
		waiting.splice(after < 0 ? waiting.length : after, 0, waiter);
		try {
			for (;;) {
				signal.throwIfAborted();
				const ms = bucket.nextAt - now();
				if (ms <= 0 && waiting[0] === waiter) break;
				await sleep(Math.max(ms, 1), undefined, { signal });
			}
			bucket.nextAt = now() + intervalMs;
		} finally {
			waiting.splice(waiting.indexOf(waiter), 1);
		}
	};
}
