// Turns: who asks first is first, one at a time, and nobody waits without end.

export class Queue {
	#taken = false;
	readonly #waiting: (() => void)[] = [];
	readonly #limit: number;

	constructor(limit: number) {
		this.#limit = limit;
	}

	/**
	 * Resolves with the function that ends the turn; with undefined when it has not come within `waitMs`, or too many are
	 * waiting already.
	 */
	async turn(waitMs: number): Promise<(() => void) | undefined> {
		if (this.#taken && !(await this.#wait(waitMs))) return undefined;
		this.#taken = true;
		return () => {
			const next = this.#waiting.shift();
			// The turn is handed over, so that nobody comes in between.
			if (next) next();
			else this.#taken = false;
		};
	}

	async #wait(waitMs: number): Promise<boolean> {
		if (this.#waiting.length >= this.#limit) return false;
		const { promise, resolve } = Promise.withResolvers<boolean>();
		const start = () => {
			clearTimeout(timer);
			resolve(true);
		};
		const timer = setTimeout(() => {
			this.#waiting.splice(this.#waiting.indexOf(start), 1);
			resolve(false);
		}, waitMs);
		this.#waiting.push(start);
		return promise;
	}
}
