// A counting semaphore whose queue is bounded in length and in time, and fair among callers.

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

interface Waiter {
	caller: string;
	take(): void;
	leave(reason: unknown): void;
}

/** A caller that asks for many gets half of the permits, and of the queue, while another waits. */
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
		const { max, maxWaiting = Number.POSITIVE_INFINITY } = this.options;
		if (this.#held < max) {
			this.#held++;
			count(this.#heldBy, caller, 1);
			return undefined;
		}
		if (this.#waiting.size >= maxWaiting && !this.#makeRoom(caller)) throw this.#tooMany();
		return this.#wait(signal, caller);
	}

	/** Runs `work` with a permit, for which it waits as `acquire` does. */
	async run<T>(signal: Signal, work: () => Promise<T>): Promise<T> {
		await this.acquire(signal);
		try {
			return await work();
		} finally {
			this.release();
		}
	}

	/** To the one that has waited longest, before callers that hold half of the permits. `caller`: as in `acquire`. */
	release(caller = ""): void {
		count(this.#heldBy, caller, -1);
		const [first] = this.#waiting;
		if (!first) {
			this.#held--;
			return;
		}
		const next = this.#waitingBy.size > 1 ? this.#waiting.values().find((one) => this.#holdsLittle(one)) : first;
		(next ?? first).take();
	}

	#holdsLittle({ caller }: Waiter): boolean {
		return (this.#heldBy.get(caller) ?? 0) < this.options.max / 2;
	}

	/** In a full queue, in place of the latest of a caller with two more waiting. */
	#makeRoom(caller: string): boolean {
		const own = this.#waitingBy.get(caller) ?? 0;
		const latest = [...this.#waiting].findLast((one) => (this.#waitingBy.get(one.caller) ?? 0) > own + 1);
		latest?.leave(this.#tooMany());
		return latest !== undefined;
	}

	#tooMany(): Overloaded {
		return new Overloaded(`${this.options.max} running, ${this.options.maxWaiting} waiting`);
	}

	async #wait(signal: Signal, caller: string): Promise<void> {
		if (signal.aborted) throw signal.reason;
		const { max, maxWaitMs } = this.options;
		const { promise, resolve, reject } = Promise.withResolvers<void>();
		const leaveQueue = () => {
			if (this.#waiting.delete(waiter)) count(this.#waitingBy, caller, -1);
		};
		const waiter: Waiter = {
			caller,
			take: () => {
				leaveQueue();
				count(this.#heldBy, caller, 1);
				resolve();
			},
			// A cancelled caller leaves the queue at once, so that it does not receive a permit.
			leave(reason) {
				leaveQueue();
				reject(reason);
			},
		};
		const abort = () => waiter.leave(signal.reason);
		const expire = () => waiter.leave(new Overloaded(`${max} running, none ended within ${(maxWaitMs ?? 0) / 1000} s`));
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
