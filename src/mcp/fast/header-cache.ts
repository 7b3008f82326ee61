// Caches headers by the object that they are made from: making them costs more than sending them.

import { usesFastPath } from "./switch.ts";

const isCaching = usesFastPath("header-cache");

export class HeaderCache<Key extends object, Made> {
	readonly #made = new WeakMap<Key, Made>();

	/**
	 * Returns the value that `make` returned earlier for the object `key`. On the first call for `key`, calls `make` and
	 * caches the result.
	 */
	get(key: Key, make: () => Made): Made {
		const known = this.#made.get(key);
		if (known || !isCaching) return known ?? make();
		const made = make();
		this.#made.set(key, made);
		return made;
	}
}
