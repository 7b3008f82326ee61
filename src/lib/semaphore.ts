// A counting semaphore whose queue is bounded in length and in time, and fair among callers.

import type { Signal } from "./signal.ts";

export class Overloaded extends Error {
	override name = "Overloaded";
}

interface SemaphoreOptions {
	max: number;
	/** Default: half. */
	maxPerCaller?: number;
	/** Default: no limit. */
	maxWaiting?: number;
	/** Then a waiting caller gets Overloaded. Default: no limit. */
	maxWaitMs?: number;
}

interface Waiter {
	caller: string;
	take(): void;
	leave(reason: unknown): void;
}

/** A named caller holds at most `maxPerCaller`, also alone, and gets half of the queue while another waits. */
export class Semaphore {
	#held = 0;
	readonly #heldBy = new Map<string, number>();
	readonly #waiting = new Set<Waiter>();
	readonly #waitingBy = new Map<string, number>();

	constructor(private readonly options: SemaphoreOptions) {}

	get held(): number {
		return this.#held;
	}

	get waiting(): number {
		return this.#waiting.size;
	}

	/** Undefined if one is free. Overloaded if too many wait or it takes too long; `signal.reason` after an abort. */
	acquire(signal: Signal, caller = ""): Promise<void> | undefined {
		const { maxWaiting = Number.POSITIVE_INFINITY } = this.options;
		if (this.#mayTake(caller)) return this.#take(caller);
		if (this.#waiting.size >= maxWaiting && !this.#makeRoom(caller)) throw this.#overloaded();
		return this.#wait(signal, caller);
	}

	/** Runs `work` with a permit, for which it waits as `acquire` does. */
	async run<T>(signal: Signal, work: () => Promise<T>, caller?: string): Promise<T> {
		await this.acquire(signal, caller);
		try {
			return await work();
		} finally {
			this.release(caller);
		}
	}

	/** To the one that has waited longest, of callers that may hold more. `caller`: as in `acquire`. */
	release(caller = ""): void {
		this.#held--;
		count(this.#heldBy, caller, -1);
		if (this.#waiting.size === 0) return;
		for (const one of this.#waiting) if (this.#mayTake(one.caller)) return void one.take();
	}

	#mayTake(caller: string): boolean {
		const { max, maxPerCaller = max / 2 } = this.options;
		return this.#held < max && (caller === "" || (this.#heldBy.get(caller) ?? 0) < maxPerCaller);
	}

	#take(caller: string): undefined {
		this.#held++;
		count(this.#heldBy, caller, 1);
	}

	/** In a full queue, in place of the latest of a caller with two more waiting. */
	#makeRoom(caller: string): boolean {
		const own = this.#waitingBy.get(caller) ?? 0;
		const latest = [...this.#waiting].findLast((one) => (this.#waitingBy.get(one.caller) ?? 0) > own + 1);
		latest?.leave(this.#overloaded());
		return latest !== undefined;
	}

	#overloaded(why = `${this.#waiting.size} waiting`): Overloaded {
		return new Overloaded(`${this.#held} running, ${why}`);
	}

	async #wait(signal: Signal, caller: string): Promise<void> {
		if (signal.aborted) throw signal.reason;
		const { maxWaitMs } = this.options;
		const { promise, resolve, reject } = Promise.withResolvers<void>();
		const leaveQueue = () => {
			if (this.#waiting.delete(waiter)) count(this.#waitingBy, caller, -1);
		};
		const waiter: Waiter = {
			caller,
			take: () => {
				leaveQueue();
				this.#take(caller);
				resolve();
			},
			// A cancelled caller leaves the queue at once, so that it does not receive a permit.
			leave(reason) {
				leaveQueue();
				reject(reason);
			},
		};
		const abort = () => waiter.leave(signal.reason);
		const expire = () => waiter.leave(this.#overloaded(`no place within ${(maxWaitMs ?? 0) / 1000} s`));
		const timer = maxWaitMs === undefined ? undefined : setTimeout(expire, maxWaitMs);
		this.#waiting.add(waiter);
		count(this.#waitingBy, caller, 1);
		signal.addEventListener("abort", abort);
		try {
			await promise;
		} finally {
			clearTimeout(timer);
			signal.removeEventListener("abort", abort);
		}
	}
}

function count(counts: Map<string, number>, key: string, change: number): void {
	const sum = (counts.get(key) ?? 0) + change;
	if (sum === 0) counts.delete(key);
	else counts.set(key, sum);
}
