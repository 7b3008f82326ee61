// Functions that are called after changes.

/** A set of functions that are called with each value that is passed to `notify`, in the order in which they were added. */
export class Subscribers<T> {
	readonly #all = new Set<(value: T) => void>();

	/** Calls `subscriber` with every value from now on. */
	add(subscriber: (value: T) => void): void {
		this.#all.add(subscriber);
	}

	notify(value: T): void {
		for (const subscriber of this.#all) subscriber(value);
	}
}
