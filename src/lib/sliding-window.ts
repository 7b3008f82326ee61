// A sliding window: counts events within the last `windowMs`, against a maximum.

export interface WindowOptions {
	max: number;
	windowMs: number;
	/** Monotonic, in milliseconds. Default: `performance.now()`. */
	now?: () => number;
}

export class SlidingWindow {
	readonly #times: number[] = [];
	readonly #now: () => number;

	constructor(private readonly options: WindowOptions) {
		this.#now = options.now ?? (() => performance.now());
	}

	/** Events within the window; at most the limit. */
	get count(): number {
		const since = this.#now() - this.options.windowMs;
		return this.#times.filter((time) => time > since).length;
	}

	/** Milliseconds until another event is allowed; 0 if now. */
	get waitMs(): number {
		const [oldest = Infinity] = this.#times;
		if (this.#times.length < this.options.max) return 0;
		return Math.max(0, oldest + this.options.windowMs - this.#now());
	}

	/** Counts an event even beyond the limit. */
	add(): void {
		this.#times.push(this.#now());
		if (this.#times.length > this.options.max) this.#times.shift();
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
