// Limits invalid requests, those answered with 401, 403 or 429. Discord bans an IP address after 10,000 in 10 minutes.
// https://discord.com/developers/docs/topics/rate-limits#invalid-request-limit-aka-cloudflare-bans

const windowMs = 10 * 60_000;

/** Maximum number per bot and window. Several bots may share an IP address. */
const defaultLimit = 1_000;

/** A sliding window of invalid requests. */
export class InvalidRequests {
	/** Times of the latest invalid requests, as a ring buffer. */
	readonly #times: number[];
	#next = 0;

	constructor(
		limit = defaultLimit,
		/** A monotonic clock, in milliseconds. */
		readonly now: () => number = () => performance.now(),
	) {
		this.#times = Array.from({ length: limit }, () => -Infinity);
	}

	/** Invalid requests in the last 10 minutes, at most the limit. */
	get count(): number {
		const since = this.now() - windowMs;
		return this.#times.filter((time) => time > since).length;
	}

	/** Milliseconds until the next request may be sent; 0 if it may be sent now. */
	get waitMs(): number {
		const oldest = this.#times[this.#next] ?? -Infinity;
		return Math.max(0, oldest + windowMs - this.now());
	}

	/** Counts a response if its status makes the request invalid. A 429 with the scope "shared" does not count. */
	note(status: number, scope: string | null): void {
		const isInvalid =
			status === 401 ||
			status === 403 ||
			(status === 429 && scope !== "shared");
		if (!isInvalid) return;
		this.#times[this.#next] = this.now();
		this.#next = (this.#next + 1) % this.#times.length;
	}
}
