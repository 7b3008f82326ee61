// Cooldowns: a sliding window of attempts per key.

/** Maximum number of keys. The oldest are dropped first. */
const maxKeys = 10_000;

export interface LimiterOptions {
	max: number;
	windowMs: number;
	/** A monotonic clock, in milliseconds. */
	now?: () => number;
}

/** The result of an attempt. */
export interface Attempt {
	/** Seconds until the next attempt can succeed; 0 if this one was accepted. */
	waitS: number;
	/** Refused attempts since the last accepted one, including this one. */
	refusals: number;
}

export interface Limiter {
	readonly max: number;
	readonly windowMs: number;
	/** Counts an attempt for a key if the limit allows it. */
	take(key: string): Attempt;
	/** Whether an attempt of a key would be accepted now. Counts nothing. */
	hasRoom(key: string): boolean;
	/** Removes the latest accepted attempt of a key, so that it does not count. */
	refund(key: string): void;
}

interface Attempts {
	/** Times of accepted attempts in the window, oldest first. */
	times: number[];
	refusals: number;
}

export function createLimiter({
	max,
	windowMs,
	now = () => performance.now(),
}: LimiterOptions): Limiter {
	/** In order of the latest accepted attempt. */
	const attempts = new Map<string, Attempts>();

	/** Accepted attempts of a key after `since`, oldest first. */
	const timesAfter = (since: number, key: string) =>
		(attempts.get(key)?.times ?? []).filter((time) => time > since);

	/** Drops keys without attempts in the window, and the oldest beyond the maximum. */
	function prune(since: number): void {
		for (const [key, { times }] of attempts) {
			if ((times.at(-1) ?? 0) > since && attempts.size < maxKeys) break;
			attempts.delete(key);
		}
	}

	return {
		max,
		windowMs,
		take(key) {
			const at = now();
			const since = at - windowMs;
			const known = attempts.get(key);
			const times = timesAfter(since, key);
			const [oldest] = times;
			if (known && oldest !== undefined && times.length >= max) {
				known.refusals += 1;
				const waitS = Math.ceil((oldest - since) / 1000);
				return { waitS, refusals: known.refusals };
			}
			attempts.delete(key);
			prune(since);
			attempts.set(key, { times: [...times, at], refusals: 0 });
			return { waitS: 0, refusals: 0 };
		},
		hasRoom: (key) => timesAfter(now() - windowMs, key).length < max,
		refund(key) {
			attempts.get(key)?.times.pop();
		},
	};
}
