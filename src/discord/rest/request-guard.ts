// Pauses all requests after too many invalid ones, and after a foreign response: one that is not from Discord's API.

import { doubledMs } from "../../lib/back-off.ts";
import { InvalidRequests } from "./invalid-requests.ts";

/** Doubles with each in a row. A guess: proxies in front of Discord return a single 502 or 503 now and then. */
const firstPauseMs = { failed: 1_000, refused: 5_000 };
/** A guess: failing servers recover soon, but a block of the IP address lasts. */
const maxPauseMs = { failed: 60_000, refused: 10 * 60_000 };
const maxRetryAfterMs = 60 * 60_000;

export interface Pause {
	why: "invalid requests" | "foreign response";
	waitMs: number;
	/** Of the response that started the pause. */
	status?: number;
}

export class RequestGuard {
	rejectedCount = 0;
	readonly #invalid: InvalidRequests;
	#startedAt = -Infinity;
	#endsAt = -Infinity;
	#status = 0;
	#foreignInARow = 0;

	/** `limit` is the number of invalid requests in ten minutes after which all requests pause. */
	constructor(
		private readonly onPause: (pause: Pause) => void = () => {},
		private readonly now = () => performance.now(),
		limit?: number,
	) {
		this.#invalid = new InvalidRequests(limit, now);
	}

	/** Answered with 401, 403 or 429, in the last 10 minutes. */
	get invalidCount(): number {
		return this.#invalid.count;
	}

	get pause(): Pause | undefined {
		const foreignMs = this.#endsAt - this.now();
		const invalidMs = this.#invalid.waitMs;
		if (invalidMs > 0 && invalidMs >= foreignMs) return { why: "invalid requests", waitMs: invalidMs };
		if (foreignMs <= 0) return undefined;
		return { why: "foreign response", waitMs: foreignMs, status: this.#status };
	}

	/** Call it before sending, while requests are not paused. */
	begin() {
		const sentAt = this.now();
		const isOld = () => sentAt <= this.#startedAt;
		return {
			noteResponse: (status: number, scope: string | null) => {
				this.#reportNewPause(() => this.#invalid.note(status, scope));
				if (!isOld()) this.#foreignInARow = 0;
			},
			noteForeignResponse: (status: number, retryAfterMs: number | undefined) => {
				this.#reportNewPause(() => {
					this.#invalid.note(status, null);
					if (isOld() && retryAfterMs === undefined) return;
					if (!isOld()) this.#foreignInARow += 1;
					const kind = status >= 500 ? "failed" : "refused";
					const range = [firstPauseMs[kind], maxPauseMs[kind]] as const;
					const ms =
						retryAfterMs === undefined
							? doubledMs(this.#foreignInARow - 1, range)
							: Math.min(retryAfterMs, maxRetryAfterMs);
					const endsAt = this.now() + ms;
					if (endsAt <= this.#endsAt) return;
					this.#endsAt = endsAt;
					this.#status = status;
					if (!isOld()) this.#startedAt = this.now();
				});
			},
		};
	}

	#reportNewPause(work: () => void): void {
		const before = this.pause;
		work();
		const { pause } = this;
		if (pause && !before) this.onPause(pause);
	}
}
