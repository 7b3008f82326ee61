// How often someone may do something: so many times within a window that moves along.

/** Beyond these, whoever came longest ago is forgotten. */
const maxKeys = 10_000;

export interface LimiterOptions {
	max: number;
	windowMs: number;
	/** Milliseconds of the monotonic clock. */
	now?: () => number;
}

/** What came of an attempt. */
export interface Turn {
	/** Seconds until the next attempt can succeed; 0 for one that does, and counts. */
	waitS: number;
	/** How many were refused since the last one that was not, this one included. */
	refusals: number;
}

export interface Limiter {
	readonly max: number;
	readonly windowMs: number;
	/** Tries for whoever has this key. */
	take(key: string): Turn;
	/** Takes back the latest attempt of this key that was let through, which then does not count. */
	giveBack(key: string): void;
}

interface Attempts {
	/** When they were let through, within the window, oldest first. */
	times: number[];
	refusals: number;
}

export function createLimiter({
	max,
	windowMs,
	now = () => performance.now(),
}: LimiterOptions): Limiter {
	/** In the order of the last time that they were let through. */
	const attempts = new Map<string, Attempts>();

	/** Whoever was let through last before the window is no longer of interest. */
	function forget(since: number): void {
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
			const times = (known?.times ?? []).filter((time) => time > since);
			const [oldest] = times;
			if (known && oldest !== undefined && times.length >= max) {
				known.refusals += 1;
				const waitS = Math.ceil((oldest - since) / 1000);
				return { waitS, refusals: known.refusals };
			}
			attempts.delete(key);
			forget(since);
			attempts.set(key, { times: [...times, at], refusals: 0 });
			return { waitS: 0, refusals: 0 };
		},
		giveBack(key) {
			attempts.get(key)?.times.pop();
		},
	};
}
