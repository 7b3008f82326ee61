// A sliding window: counts events within the last `windowMs`, against a maximum.

export interface WindowOptions {
	max: number;
	windowMs: number;
	/** A monotonic clock, in milliseconds. */
	now?: () => number;
}

export class SlidingWindow {
	/** Times of the latest events, oldest first; at most `max`. */
	readonly #times: number[] = [];
	readonly #max: number;
	readonly #windowMs: number;
	readonly #now: () => number;

	constructor({ max, windowMs, now = () => performance.now() }: WindowOptions) {
		this.#max = max;
		this.#windowMs = windowMs;
		this.#now = now;
	}

	/** Number of events within the window, at most `max`. */
	get count(): number {
		const since = this.#now() - this.#windowMs;
		return this.#times.filter((time) => time > since).length;
	}

	/** Milliseconds until the window has room for another event; 0 if it has room now. */
	get waitMs(): number {
		const [oldest = Infinity] = this.#times;
		if (this.#times.length < this.#max) return 0;
		return Math.max(0, oldest + this.#windowMs - this.#now());
	}

	/** Adds an event, even if the window has no room for it. */
	add(): void {
		this.#times.push(this.#now());
		if (this.#times.length > this.#max) this.#times.shift();
	}

	/** Adds an event if the window has room for it. Returns whether it had. */
	take(): boolean {
		const hasRoom = this.waitMs === 0;
		if (hasRoom) this.add();
		return hasRoom;
	}

	/** Removes the latest event, so that it no longer counts. */
	refund(): void {
		this.#times.pop();
	}
}
