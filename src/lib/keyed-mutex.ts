// Per-key async mutex: work on the same thing runs one at a time, in the order of the calls.

export class KeyedMutex {
	readonly #last = new Map<string, Promise<unknown>>();

	/** Number of keys of this mutex that are locked now. */
	get size(): number {
		return this.#last.size;
	}

	/**
	 * Runs `work` after all earlier work with any of the same keys has ended, and settles with the result or error of
	 * `work`. Calls with several keys cannot deadlock, since each call locks all its keys at once.
	 */
	async withLock<T>(keys: string | readonly string[], work: () => Promise<T>): Promise<T> {
		const all = [...new Set([keys].flat())];
		// Earlier work reports its failures to its own caller.
		const before = Promise.allSettled(all.map((key) => this.#last.get(key)));
		const result = before.then(work);
		for (const key of all) this.#last.set(key, result);
		try {
			return await result;
		} finally {
			for (const key of all) if (this.#last.get(key) === result) this.#last.delete(key);
		}
	}
}
