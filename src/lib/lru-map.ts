// A map with a limit: it forgets the entries that were not used for the longest time.

export class LruMap<Key, Value> extends Map<Key, Value> {
	constructor(private readonly max: number) {
		super();
	}

	override get(key: Key): Value | undefined {
		const value = super.get(key);
		// A Map iterates in the order of insertion.
		if (value !== undefined && super.delete(key)) super.set(key, value);
		return value;
	}

	override set(key: Key, value: Value): this {
		super.delete(key);
		super.set(key, value);
		const [oldest] = this.keys();
		if (oldest !== undefined && this.size > this.max) this.delete(oldest);
		return this;
	}

	getOrMake(key: Key, make: () => Value): Value {
		const known = this.get(key);
		if (known !== undefined) return known;
		const made = make();
		this.set(key, made);
		return made;
	}
}
