// Work that waits for a time, or for the shutdown, which begins it at once.

import { Pending } from "../../lib/wait.ts";

export class Delayed {
	readonly #waiting = new Map<Timer, () => void>();
	readonly #begun = new Pending();

	add(ms: number, work: () => void | Promise<void>): void {
		const begin = () => {
			clearTimeout(timer);
			this.#waiting.delete(timer);
			void this.#begun.add(Promise.resolve(work()));
		};
		const timer = setTimeout(begin, ms);
		this.#waiting.set(timer, begin);
	}

	/** Begins what waits, and ends with all that has begun. */
	async close(): Promise<void> {
		for (const begin of this.#waiting.values()) begin();
		await this.#begun.settled();
	}
}
