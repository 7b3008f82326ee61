// A sliding window: counts events within the last `windowMs`, against a maximum.

export interface WindowOptions {
	max: number;
	windowMs: number;
	/** Returns the current time of a monotonic clock, in milliseconds. Default: `performance.now()`. */
	now?: () => number;
}

export class SlidingWindow {
	readonly #times: number[] = [];
	readonly #max: number;
	readonly #windowMs: number;
	readonly #now: () => number;

	constructor({ max, windowMs, now = () => performance.now() }: WindowOptions) {
		this.#max = max;
		this.#windowMs = windowMs;
		this.#now = now;
	}

	/**
	 * Number of events, such as requests, that were counted within the time window; at most the number that the rate
	 * limit allows.
	 */
	get count(): number {
		const since = this.#now() - this.#windowMs;
		return this.#times.filter((time) => time > since).length;
	}

	/** Milliseconds until the rate limit allows another event, such as a request; 0 if it allows one now. */
	get waitMs(): number {
		const [oldest = Infinity] = this.#times;
		if (this.#times.length < this.#max) return 0;
		return Math.max(0, oldest + this.#windowMs - this.#now());
	}

	/** Counts an event, such as a request, at the current time, even if it exceeds the rate limit. */
	add(): void {
		this.#times.push(this.#now());
		if (this.#times.length > this.#max) this.#times.shift();
	}

	/**
	 * Counts an event, such as a request, at the current time if the rate limit allows it. Returns whether it was
	 * allowed.
	 */
	take(): boolean {
		const hasRoom = this.waitMs === 0;
		if (hasRoom) this.add();
		return hasRoom;
	}

	/** Removes the event that was counted last, so that it no longer counts towards the rate limit. */
	refund(): void {
		this.#times.pop();
	}
}
