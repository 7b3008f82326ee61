// A counting semaphore whose queue is bounded in length and in time.

import type { Signal } from "./signal.ts";

export class Overloaded extends Error {
	override name = "Overloaded";
}

interface SemaphoreOptions {
	max: number;
	/** Default: no limit. */
	maxWaiting?: number;
	/** Then a waiting caller gets Overloaded. Default: no limit. */
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

	/** Undefined if one is free. Overloaded if too many wait or it takes too long; `signal.reason` after an abort. */
	acquire(signal: Signal): Promise<void> | undefined {
		const { max, maxWaiting = Number.POSITIVE_INFINITY } = this.options;
		if (this.#held < max) {
			this.#held++;
			return undefined;
		}
		if (this.#waiting.size >= maxWaiting) throw new Overloaded(`${max} running, ${maxWaiting} waiting`);
		return this.#wait(signal);
	}

	/** The caller that has waited longest gets the permit. */
	release(): void {
		if (this.#waiting.size === 0) {
			this.#held--;
			return;
		}
		const [next] = this.#waiting;
		next?.();
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
		const expire = () => leave(new Overloaded(`${max} running, none ended within ${(maxWaitMs ?? 0) / 1000} s`));
		const timer = maxWaitMs === undefined ? undefined : setTimeout(expire, maxWaitMs);
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
