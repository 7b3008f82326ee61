// A counting semaphore whose queue is bounded in length and in time.

import type { Signal } from "./signal.ts";

/** The queue of a semaphore was full, or no permit became free in time. */
export class Overloaded extends Error {
	override name = "Overloaded";
}

export interface SemaphoreOptions {
	max: number;
	/** Limit of waiting callers. Default: no limit. */
	maxWaiting?: number;
	/** Milliseconds for which a caller waits. Default: no limit. */
	maxWaitMs?: number;
}

export class Semaphore {
	#held = 0;
	readonly #waiting = new Set<() => void>();

	constructor(private readonly options: SemaphoreOptions) {}

	get held(): number {
		return this.#held;
	}

	get waiting(): number {
		return this.#waiting.size;
	}

	/**
	 * Takes a permit: returns undefined if one is free, otherwise a promise that resolves in the order of the calls. Throws
	 * Overloaded if the queue is full; rejects with it after `maxWaitMs`, and with the reason of `signal` if that aborts.
	 */
	acquire(signal: Signal): Promise<void> | undefined {
		const { max, maxWaiting = Number.POSITIVE_INFINITY } = this.options;
		if (this.#held < max) {
			this.#held++;
			return undefined;
		}
		if (this.#waiting.size >= maxWaiting)
			throw new Overloaded(`${max} running, ${maxWaiting} waiting`);
		return this.#wait(signal);
	}

	/** Returns a permit, which goes to the caller that has waited longest. */
	release(): void {
		const [next] = this.#waiting;
		if (next) next();
		else this.#held--;
	}

	async #wait(signal: Signal): Promise<void> {
		if (signal.aborted) throw signal.reason;
		const { max, maxWaitMs } = this.options;
		const { promise, resolve, reject } = Promise.withResolvers<void>();
		const take = () => {
			this.#waiting.delete(take);
			resolve();
		};
		// A cancelled caller leaves the queue at once, so that it does not receive a permit.
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
