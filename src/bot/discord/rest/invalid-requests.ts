// Discord bars an address that sends 10,000 requests within 10 minutes which it answers 401, 403 or 429: this holds
// requests back long before. https://discord.com/developers/docs/topics/rate-limits#invalid-request-limit-aka-cloudflare-bans

const windowMs = 10 * 60_000;

/** How many of them a bot may send within the window: several bots share an address. */
const defaultLimit = 1_000;

/** Counts invalid requests, and says when the next request may be sent. */
export class InvalidRequests {
	/** When the latest were answered, in a ring. */
	readonly #times: number[];
	#next = 0;

	constructor(
		limit = defaultLimit,
		/** A clock that never jumps, in milliseconds. */
		readonly now: () => number = () => performance.now(),
	) {
		this.#times = Array.from({ length: limit }, () => -Infinity);
	}

	/** How many there were in the last 10 minutes, as far as they are counted. */
	get count(): number {
		const since = this.now() - windowMs;
		return this.#times.filter((time) => time > since).length;
	}

	/** For how many milliseconds no request may be sent; 0 when one may. */
	get waitMs(): number {
		const oldest = this.#times[this.#next] ?? -Infinity;
		return Math.max(0, oldest + windowMs - this.now());
	}

	/** Discord answered a request with this status; a limit that others share with the bot (`scope`) does not count. */
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
