// When the bot sends no requests: after too many that Discord refused, and after an answer that was not from its API.

import { doubledMs } from "../../../lib/back-off.ts";
import { InvalidRequests } from "./invalid-requests.ts";

/**
 * How long the first answer in a row from elsewhere stops requests; each further one doubles it. A guess: a single page
 * with 502 or 503 comes from a proxy in front of Discord now and then, and the next request passes.
 */
const firstPauseMs = { failed: 1_000, refused: 5_000 };
/** The longest pause: a server that fails may be back soon, a block of the address lasts. A guess. */
const maxPauseMs = { failed: 60_000, refused: 10 * 60_000 };
/** Nothing that an answer asks for is waited for longer. */
const maxRetryAfterMs = 60 * 60_000;

/** Why requests are held back, and for how long from now. */
export interface Pause {
	why: "invalid requests" | "foreign answer";
	waitMs: number;
	/** The status of the answer that began it. */
	status?: number;
}

export interface RequestGuardOptions {
	invalid?: InvalidRequests;
	/** A clock that never jumps, in milliseconds. */
	now?(): number;
	/** Is told when requests are held back that were not before. */
	onPause?(pause: Pause): void;
}

export class RequestGuard {
	/** Requests that were not sent because of a pause. */
	heldBack = 0;
	readonly #invalid: InvalidRequests;
	readonly #now: () => number;
	readonly #onPause: (pause: Pause) => void;
	/** The latest pause after an answer from elsewhere. */
	#begunAt = -Infinity;
	#endsAt = -Infinity;
	#status = 0;
	/** Answers from elsewhere in a row, each to a request that was sent after the pause before it. */
	#foreign = 0;

	constructor({
		now = () => performance.now(),
		invalid = new InvalidRequests(undefined, now),
		onPause = () => {},
	}: RequestGuardOptions = {}) {
		this.#invalid = invalid;
		this.#now = now;
		this.#onPause = onPause;
	}

	/** Requests of the last 10 minutes that Discord counts as invalid. */
	get invalidCount(): number {
		return this.#invalid.count;
	}

	/** The pause that no request may be sent in; undefined when one may. */
	get pause(): Pause | undefined {
		const foreignMs = this.#endsAt - this.#now();
		const invalidMs = this.#invalid.waitMs;
		if (invalidMs > 0 && invalidMs >= foreignMs)
			return { why: "invalid requests", waitMs: invalidMs };
		if (foreignMs <= 0) return undefined;
		return {
			why: "foreign answer",
			waitMs: foreignMs,
			status: this.#status,
		};
	}

	/** A request is about to be sent: its answer is told to what this returns. Only while there is no pause. */
	begin() {
		const sentAt = this.#now();
		/** Whether the pause began after the request was sent: its answer then says nothing new. */
		const isOld = () => sentAt <= this.#begunAt;
		return {
			/** Discord's API answered; a rate limit that others share with the bot (`scope`) does not count. */
			answered: (status: number, scope: string | null) => {
				this.#announcing(() => this.#invalid.note(status, scope));
				if (!isOld()) this.#foreign = 0;
			},
			/** Something else answered, and perhaps said for how long it will. */
			answeredByOther: (status: number, retryAfterMs: number | undefined) => {
				this.#announcing(() => {
					this.#invalid.note(status, null);
					if (isOld() && retryAfterMs === undefined) return;
					if (!isOld()) this.#foreign += 1;
					const kind = status >= 500 ? "failed" : "refused";
					const range = [firstPauseMs[kind], maxPauseMs[kind]] as const;
					const ms =
						retryAfterMs === undefined
							? doubledMs(this.#foreign - 1, range)
							: Math.min(retryAfterMs, maxRetryAfterMs);
					const endsAt = this.#now() + ms;
					if (endsAt <= this.#endsAt) return;
					this.#endsAt = endsAt;
					this.#status = status;
					if (!isOld()) this.#begunAt = this.#now();
				});
			},
		};
	}

	#announcing(work: () => void): void {
		const before = this.pause;
		work();
		const { pause } = this;
		if (pause && !before) this.#onPause(pause);
	}
}
