// What a simulated server is told to do wrong.

/** Holds the faults of a server, each for a number of requests or until the server is told to behave. */
export class Misbehaviours<Fault> {
	readonly #faults = new Map<string, { fault: Fault; left: number }>();
	#held = Promise.withResolvers<void>();

	get released(): Promise<void> {
		return this.#held.promise;
	}

	/** Sets the fault of the next `times` requests to a route. Default: of all requests to all routes. */
	set(fault: Fault, times = Number.POSITIVE_INFINITY, route = "*"): void {
		this.#faults.set(route, { fault, left: times });
	}

	next(route = "*"): Fault | undefined {
		const key = this.#faults.has(route) ? route : "*";
		const found = this.#faults.get(key);
		if (!found) return undefined;
		found.left -= 1;
		if (found.left <= 0) this.#faults.delete(key);
		return found.fault;
	}

	clear(): void {
		this.#faults.clear();
		this.#held.resolve();
		this.#held = Promise.withResolvers();
	}
}
