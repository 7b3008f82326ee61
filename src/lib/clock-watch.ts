// Notices jumps of the wall clock. Timers run on the monotonic clock, so they miss a due time when the machine was
// suspended or its clock was set.

const checkMs = 10_000;
const toleranceMs = 1_000;

export class ClockWatch {
	readonly #listeners = new Set<() => void>();
	#timer: Timer | undefined;
	#offsetMs = 0;

	constructor(
		private readonly wallClock = () => Date.now(),
		private readonly monotonicClock = () => performance.now(),
	) {}

	/** Calls `listener` within 10 s of a jump of the wall clock. Returns a function that ends this. */
	subscribe(listener: () => void): () => void {
		if (this.#listeners.size === 0) {
			this.#offsetMs = this.#measure();
			this.#timer = setInterval(() => this.check(), checkMs).unref();
		}
		this.#listeners.add(listener);
		return () => {
			this.#listeners.delete(listener);
			if (this.#listeners.size === 0) clearInterval(this.#timer);
		};
	}

	check(): void {
		const jumpMs = this.#measure() - this.#offsetMs;
		this.#offsetMs += jumpMs;
		if (Math.abs(jumpMs) <= toleranceMs) return;
		for (const listener of this.#listeners) listener();
	}

	#measure(): number {
		return this.wallClock() - this.monotonicClock();
	}
}

export const clockWatch = new ClockWatch();
