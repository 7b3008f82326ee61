// Cooldowns: a sliding window of attempts per key.

import { SlidingWindow, type WindowOptions } from "../../lib/sliding-window.ts";

const maxKeys = 10_000;

/** Whether a rate limiter accepted an attempt, and how long to wait before the next one. */
export interface Attempt {
	/** Seconds until the rate limiter can accept another attempt; 0 if it accepted this attempt. */
	waitS: number;
	/** How many attempts the rate limiter has refused since it last accepted one, including the current attempt. */
	refusals: number;
}

/** Rate limiter: limits how many attempts each key, such as a user id, can make in a sliding time window. */
export class Limiter {
	readonly #byKey = new Map<string, { accepted: SlidingWindow; refusals: number }>();

	constructor(readonly options: WindowOptions) {}

	/** Counts an attempt of a key, such as a user id, if the limit allows it. Otherwise refuses the attempt. */
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

	/** Whether the rate limiter would accept an attempt of this key now. Does not count as an attempt. */
	hasRoom(key: string): boolean {
		return !this.#byKey.get(key)?.accepted.waitMs;
	}

	/** Takes back the latest accepted attempt of a key, so that it no longer counts for the limit. */
	refund(key: string): void {
		this.#byKey.get(key)?.accepted.refund();
	}

	#prune(): void {
		for (const [key, { accepted }] of this.#byKey) {
			if (accepted.count > 0 && this.#byKey.size < maxKeys) break;
			this.#byKey.delete(key);
		}
	}
}

/**
 * Returns a message that a person exceeded a rate limit, and how long to wait. `things` names what was limited, such as
 * "commands".
 */
export function tooOften({ options }: Limiter, waitS: number, things = "commands"): string {
	const { max, windowMs } = options;
	return `That was ${max} ${things} within ${windowMs / 1000} seconds. Try again in ${waitS} s.`;
}

/**
 * Returns a reply such as "Try again in … s" for the first attempt that a limiter refuses; undefined for further refused
 * attempts.
 */
export function tooOftenOnce(limiter: Limiter, { waitS, refusals }: Attempt, things?: string): string | undefined {
	return refusals === 1 ? tooOften(limiter, waitS, things) : undefined;
}
