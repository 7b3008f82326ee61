// Caches headers by the object that they are made from: making them costs more than sending them.

import { usesFastPath } from "./switch.ts";

const isCaching = usesFastPath("header-cache");

export class HeaderCache<Key extends object, Made> {
	readonly #made = new WeakMap<Key, Made>();

	constructor(private readonly make: (key: Key) => Made) {}

	/** Returns the headers that are made from the object `key`, which must not change after the first call. */
	get(key: Key): Made {
		const known = this.#made.get(key);
		if (known || !isCaching) return known ?? this.make(key);
		const made = this.make(key);
		this.#made.set(key, made);
		return made;
	}
}
