// Cooldowns: a sliding window of attempts per key.

import { SlidingWindow, type WindowOptions } from "../../lib/sliding-window.ts";

/** Maximum number of keys. The oldest are dropped first. */
const maxKeys = 10_000;

/** The result of an attempt. */
export interface Attempt {
	/** Seconds until the next attempt can succeed; 0 if this one was accepted. */
	waitS: number;
	/** Refused attempts since the last accepted one, including this one. */
	refusals: number;
}

/** Limits the attempts of each key. */
export class Limiter {
	/** Attempts by key, in order of the latest accepted one. */
	readonly #byKey = new Map<
		string,
		{ accepted: SlidingWindow; refusals: number }
	>();

	constructor(readonly options: WindowOptions) {}

	/** Counts an attempt for a key if the limit allows it. */
	take(key: string): Attempt {
		const known = this.#byKey.get(key);
		const waitMs = known?.accepted.waitMs ?? 0;
		if (known && waitMs > 0) {
			known.refusals += 1;
			return { waitS: Math.ceil(waitMs / 1000), refusals: known.refusals };
		}
		const accepted = known?.accepted ?? new SlidingWindow(this.options);
		this.#byKey.delete(key);
		this.#prune();
		accepted.add();
		this.#byKey.set(key, { accepted, refusals: 0 });
		return { waitS: 0, refusals: 0 };
	}

	/** Whether an attempt of a key would be accepted now. Counts nothing. */
	hasRoom(key: string): boolean {
		return !this.#byKey.get(key)?.accepted.waitMs;
	}

	/** Removes the latest accepted attempt of a key, so that it does not count. */
	refund(key: string): void {
		this.#byKey.get(key)?.accepted.refund();
	}

	/** Drops keys without attempts in the window, and the oldest keys beyond `maxKeys`. */
	#prune(): void {
		for (const [key, { accepted }] of this.#byKey) {
			if (accepted.count > 0 && this.#byKey.size < maxKeys) break;
			this.#byKey.delete(key);
		}
	}
}
