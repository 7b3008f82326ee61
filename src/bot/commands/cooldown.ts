// Cooldowns: a sliding window of attempts per key.

import { SlidingWindow, type WindowOptions } from "../../lib/sliding-window.ts";
import { SaidError } from "../../texts/said-error.ts";
import { type Said, said } from "../../texts/texts.ts";

const maxKeys = 10_000;

type TooManyKey = "answer.too_many_commands" | "answer.too_many_presses";

export interface Attempt {
	/** Seconds until the next attempt; 0 if accepted. */
	waitS: number;
	/** Since the last accepted one, with this one. */
	refusals: number;
}

export class Limiter {
	readonly #byKey = new Map<string, { accepted: SlidingWindow; refusals: number }>();

	constructor(readonly options: WindowOptions) {}

	/** Counts the attempt only if it is accepted. */
	take(key: string): Attempt {
		const known = this.#byKey.get(key) ?? { accepted: new SlidingWindow(this.options), refusals: 0 };
		const { accepted } = known;
		const { waitMs } = accepted;
		if (waitMs > 0) {
			known.refusals += 1;
			return { waitS: Math.ceil(waitMs / 1000), refusals: known.refusals };
		}
		this.#byKey.delete(key);
		this.#prune();
		accepted.add();
		this.#byKey.set(key, { accepted, refusals: 0 });
		return { waitS: 0, refusals: 0 };
	}

	accepts(key: string): boolean {
		return this.take(key).waitS === 0;
	}

	/** Does not count as an attempt. */
	hasRoom(key: string): boolean {
		return !this.#byKey.get(key)?.accepted.waitMs;
	}

	/** Throws a SaidError. */
	require(key: string): void {
		const { waitS } = this.take(key);
		if (waitS > 0) throw new SaidError(tooOften(this, waitS));
	}

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

/** `key`: what was limited. */
export function tooOften({ options }: Limiter, waitS: number, key: TooManyKey = "answer.too_many_commands"): Said {
	const { max, windowMs } = options;
	return said(key, { count: max, seconds: windowMs / 1000, wait: said("result.seconds", { count: waitS }) });
}

/** Only for the first refused attempt. */
export function tooOftenOnce(limiter: Limiter, { waitS, refusals }: Attempt, key?: TooManyKey): Said | undefined {
	return refusals === 1 ? tooOften(limiter, waitS, key) : undefined;
}
