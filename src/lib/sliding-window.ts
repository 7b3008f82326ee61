// A sliding window: counts events within the last `windowMs`, against a maximum.

export interface WindowOptions {
	max: number;
	windowMs: number;
	/** Returns the current time of a monotonic clock, in milliseconds. Default: `performance.now()`. */
	now?: () => number;
}

export class SlidingWindow {
	/** Times of the latest events in milliseconds, oldest first. At most `max` times are kept. */
	readonly #times: number[] = [];
	readonly #max: number;
	readonly #windowMs: number;
	readonly #now: () => number;

	constructor({ max, windowMs, now = () => performance.now() }: WindowOptions) {
		this.#max = max;
		this.#windowMs = windowMs;
		this.#now = now;
	}

	/** Number of events within the last `windowMs` milliseconds, at most `max`. */
	get count(): number {
		const since = this.#now() - this.#windowMs;
		return this.#times.filter((time) => time > since).length;
	}

	/** Milliseconds until the rate limit allows another event; 0 if it allows one now. */
	get waitMs(): number {
		const [oldest = Infinity] = this.#times;
		if (this.#times.length < this.#max) return 0;
		return Math.max(0, oldest + this.#windowMs - this.#now());
	}

	/** Records an event at the current time, even if it exceeds the maximum number of events in the window. */
	add(): void {
		this.#times.push(this.#now());
		if (this.#times.length > this.#max) this.#times.shift();
	}

	/**
	 * Records an event at the current time unless the window already has its maximum number of events. Returns whether
	 * the event was recorded.
	 */
	take(): boolean {
		const hasRoom = this.waitMs === 0;
		if (hasRoom) this.add();
		return hasRoom;
	}

	/** Removes the event that was recorded last, so that it no longer counts towards the maximum. */
	refund(): void {
		this.#times.pop();
	}
}
