// A counting semaphore whose queue is bounded in length and in time.

import type { Signal } from "./signal.ts";

/** No permit became free in time, or the queue was full. */
export class Overloaded extends Error {
	override name = "Overloaded";
}

export interface SemaphoreOptions {
	/** Permits. */
	max: number;
	/** Limit of waiting callers. Default: no limit. */
	maxWaiting?: number;
	/** Timeout of each waiting caller. Default: no limit. */
	maxWaitMs?: number;
}

export class Semaphore {
	#held = 0;
	readonly #options: SemaphoreOptions;
	readonly #waiting = new Set<() => void>();

	constructor(options: SemaphoreOptions) {
		this.#options = options;
	}

	/** Permits in use. */
	get held(): number {
		return this.#held;
	}

	/** Callers that wait for a permit. */
	get waiting(): number {
		return this.#waiting.size;
	}

	/**
	 * Takes a permit: at once (undefined) if one is free, otherwise in the order of the calls. Throws Overloaded when the
	 * queue is full; rejects with Overloaded after `maxWaitMs`, and with the signal's reason when that fires.
	 */
	acquire(signal: Signal): Promise<void> | undefined {
		const { max, maxWaiting = Number.POSITIVE_INFINITY } = this.#options;
		if (this.#held < max) {
			this.#held++;
			return undefined;
		}
		if (this.#waiting.size >= maxWaiting)
			throw new Overloaded(`${max} running, ${maxWaiting} waiting`);
		return this.#wait(signal);
	}

	/** Returns a permit: the longest waiter gets it. */
	release(): void {
		const [next] = this.#waiting;
		if (next) next();
		else this.#held--;
	}

	async #wait(signal: Signal): Promise<void> {
		if (signal.aborted) throw signal.reason;
		const { max, maxWaitMs } = this.#options;
		const { promise, resolve, reject } = Promise.withResolvers<void>();
		const take = () => {
			this.#waiting.delete(take);
			resolve();
		};
		// Leaves the queue at once, so that no permit goes to a cancelled waiter.
		const leave = (reason: unknown) => {
			this.#waiting.delete(take);
			reject(reason);
		};
		const abort = () => leave(signal.reason);
		const expire = () =>
			leave(
				new Overloaded(
					`${max} running, none ended within ${(maxWaitMs ?? 0) / 1000} s`,
				),
			);
		const timer =
			maxWaitMs === undefined ? undefined : setTimeout(expire, maxWaitMs);
		this.#waiting.add(take);
		signal.addEventListener("abort", abort);
		try {
			await promise;
		} finally {
			clearTimeout(timer);
			signal.removeEventListener("abort", abort);
		}
	}
}
