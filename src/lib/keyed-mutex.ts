// Per-key async mutex: work on the same thing runs one at a time, in the order of the calls.

export class KeyedMutex {
	/** The last work for each key that is held or waited for. */
	readonly #last = new Map<string, Promise<unknown>>();

	/** How many keys are held or waited for. */
	get size(): number {
		return this.#last.size;
	}

	/**
	 * Runs `work` when all earlier work with the same key, or with any of several keys, has ended, however it ended.
	 * Several keys are queued for at once, so that no two calls can wait for each other. Settles as `work` does.
	 */
	async withLock<T>(
		keys: string | readonly string[],
		work: () => Promise<T>,
	): Promise<T> {
		const all = [...new Set([keys].flat())];
		// Earlier work has reported its own failure to its own caller.
		const before = Promise.allSettled(all.map((key) => this.#last.get(key)));
		const result = before.then(work);
		for (const key of all) this.#last.set(key, result);
		try {
			return await result;
		} finally {
			for (const key of all)
				if (this.#last.get(key) === result) this.#last.delete(key);
		}
	}
}
