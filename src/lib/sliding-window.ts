// A sliding window: counts events within the last `windowMs`, against a maximum.

export interface WindowOptions {
	max: number;
	windowMs: number;
	/** Monotonic, in milliseconds. Default: `performance.now()`. */
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

	/** Events within the window; at most the limit. */
	get count(): number {
		const since = this.#now() - this.#windowMs;
		return this.#times.filter((time) => time > since).length;
	}

	/** Milliseconds until another event is allowed; 0 if now. */
	get waitMs(): number {
		const [oldest = Infinity] = this.#times;
		if (this.#times.length < this.#max) return 0;
		return Math.max(0, oldest + this.#windowMs - this.#now());
	}

	/** Counts an event even beyond the limit. */
	add(): void {
		this.#times.push(this.#now());
		if (this.#times.length > this.#max) this.#times.shift();
	}

	/** Counts an event if the limit allows it, and returns whether. */
	take(): boolean {
		const hasRoom = this.waitMs === 0;
		if (hasRoom) this.add();
		return hasRoom;
	}

	refund(): void {
		this.#times.pop();
	}
}
