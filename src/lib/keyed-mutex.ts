// Per-key async mutex: work on the same thing runs one at a time, in the order of the calls.

export class KeyedMutex {
	readonly #last = new Map<string, Promise<unknown>>();

	get size(): number {
		return this.#last.size;
	}

	/** Waits for earlier work with any of the keys. Cannot deadlock, since each call locks all its keys at once. */
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
