// Pauses all requests after too many invalid ones, and after a foreign response: one that is not from Discord's API.

import { doubledMs } from "../../../lib/back-off.ts";
import { InvalidRequests } from "./invalid-requests.ts";

/**
 * Pause after the first foreign response in a row; each further one doubles it. A guess: proxies in front of Discord
 * return a single 502 or 503 now and then, and the next request succeeds.
 */
const firstPauseMs = { failed: 1_000, refused: 5_000 };
/** Maximum pause. Failing servers recover soon, a block of the IP address lasts. A guess. */
const maxPauseMs = { failed: 60_000, refused: 10 * 60_000 };
/** Maximum accepted Retry-After. */
const maxRetryAfterMs = 60 * 60_000;

/** Why requests are paused, and for how long from now. */
export interface Pause {
	why: "invalid requests" | "foreign response";
	waitMs: number;
	/** HTTP status of the response that started it. */
	status?: number;
}

export class RequestGuard {
	/** Number of requests rejected because of a pause. */
	rejectedCount = 0;
	readonly #invalid: InvalidRequests;
	/** When the latest pause after a foreign response started. */
	#startedAt = -Infinity;
	#endsAt = -Infinity;
	#status = 0;
	/** Number of foreign responses in a row. Only one per pause counts: to a request that was sent after it. */
	#foreignInARow = 0;

	/** `limit`: invalid requests in ten minutes after which no more are sent (InvalidRequests). */
	constructor(
		/** Called when a pause starts. */
		private readonly onPause: (pause: Pause) => void = () => {},
		/** A monotonic clock, in milliseconds. */
		private readonly now = () => performance.now(),
		limit?: number,
	) {
		this.#invalid = new InvalidRequests(limit, now);
	}

	/** Invalid requests in the last 10 minutes. */
	get invalidCount(): number {
		return this.#invalid.count;
	}

	/** The current pause; undefined if requests may be sent. */
	get pause(): Pause | undefined {
		const foreignMs = this.#endsAt - this.now();
		const invalidMs = this.#invalid.waitMs;
		if (invalidMs > 0 && invalidMs >= foreignMs)
			return { why: "invalid requests", waitMs: invalidMs };
		if (foreignMs <= 0) return undefined;
		return { why: "foreign response", waitMs: foreignMs, status: this.#status };
	}

	/** Call before sending a request, while there is no pause. Pass its response to one of the returned functions. */
	begin() {
		const sentAt = this.now();
		/** Whether the request was sent before the latest pause, whose cause it shares. */
		const isOld = () => sentAt <= this.#startedAt;
		return {
			/** For a response of Discord's API. `scope` is that of its rate limit, if any. */
			noteResponse: (status: number, scope: string | null) => {
				this.#reportNewPause(() => this.#invalid.note(status, scope));
				if (!isOld()) this.#foreignInARow = 0;
			},
			/** For a foreign response. `retryAfterMs` is the wait that it asks for, if any. */
			noteForeignResponse: (
				status: number,
				retryAfterMs: number | undefined,
			) => {
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
