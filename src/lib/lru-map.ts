// A map with a limit: it forgets the entries that were not used for the longest time.

export class LruMap<Key, Value> {
	// A Map iterates in the order of insertion.
	readonly #entries = new Map<Key, Value>();

	constructor(private readonly max: number) {}

	get size(): number {
		return this.#entries.size;
	}

	get(key: Key): Value | undefined {
		const value = this.#entries.get(key);
		if (value === undefined) return undefined;
		this.#entries.delete(key);
		this.#entries.set(key, value);
		return value;
	}

	set(key: Key, value: Value): void {
		this.#entries.delete(key);
		this.#entries.set(key, value);
		if (this.#entries.size <= this.max) return;
		for (const oldest of this.#entries.keys()) {
			this.#entries.delete(oldest);
			return;
		}
	}

	getOrMake(key: Key, make: () => Value): Value {
		const known = this.get(key);
		if (known !== undefined) return known;
		const made = make();
		this.set(key, made);
		return made;
	}
}
