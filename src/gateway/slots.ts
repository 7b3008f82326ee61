// How many calls one bot may be busy with at once, and how long the next ones wait: never a queue that grows.

import type { Signal } from "../lib/signal.ts";

/** There is no room for another call, and there was none in time. Nothing was sent. */
export class Overloaded extends Error {
	override name = "Overloaded";
}

export interface SlotLimits {
	/** Calls at once; as many again may wait. */
	max: number;
	/** How long one waits. */
	maxWaitMs: number;
}

export class Slots {
	#taken = 0;
	readonly #limits: SlotLimits;
	readonly #waiting = new Set<() => void>();

	constructor(limits: SlotLimits) {
		this.#limits = limits;
	}

	/** How many are taken now. */
	get taken(): number {
		return this.#taken;
	}

	/** Takes one at once if there is one; otherwise resolves when it has one. Rejects with Overloaded, or with the signal's reason. */
	take(signal: Signal): Promise<void> | undefined {
		const { max } = this.#limits;
		if (this.#taken < max) {
			this.#taken++;
			return undefined;
		}
		if (this.#waiting.size >= max)
			throw new Overloaded(`${max} calls are in flight, and as many wait`);
		return this.#wait(signal);
	}

	/** Gives one back: to who has waited longest, if anyone does. */
	release(): void {
		const [next] = this.#waiting;
		if (next) next();
		else this.#taken--;
	}

	async #wait(signal: Signal): Promise<void> {
		if (signal.aborted) throw signal.reason;
		const { max, maxWaitMs } = this.#limits;
		const { promise, resolve, reject } = Promise.withResolvers<void>();
		const take = () => {
			this.#waiting.delete(take);
			resolve();
		};
		// Whoever leaves has left before anyone can hand them a slot.
		const leave = (reason: unknown) => {
			this.#waiting.delete(take);
			reject(reason);
		};
		const giveUp = () => leave(signal.reason);
		const timer = setTimeout(() => {
			leave(
				new Overloaded(
					`${max} calls are in flight, and none of them ended within ${maxWaitMs / 1000} s`,
				),
			);
		}, maxWaitMs);
		this.#waiting.add(take);
		signal.addEventListener("abort", giveUp);
		try {
			await promise;
		} finally {
			clearTimeout(timer);
			signal.removeEventListener("abort", giveUp);
		}
	}
}
