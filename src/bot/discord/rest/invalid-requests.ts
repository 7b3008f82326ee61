// Limits invalid requests, those answered with 401, 403 or 429. Discord bans an IP address after 10,000 in 10 minutes.
// https://discord.com/developers/docs/topics/rate-limits#invalid-request-limit-aka-cloudflare-bans

import { SlidingWindow } from "../../../lib/sliding-window.ts";

const windowMs = 10 * 60_000;

/** Maximum number per bot and window. Several bots may share an IP address. */
const defaultLimit = 1_000;

/** The invalid requests of the last 10 minutes. */
export class InvalidRequests extends SlidingWindow {
	/** `now` is a monotonic clock, in milliseconds. */
	constructor(limit = defaultLimit, now?: () => number) {
		super({ max: limit, windowMs, ...(now && { now }) });
	}

	/** Counts a response if its status makes the request invalid. A 429 with the scope "shared" does not count. */
	note(status: number, scope: string | null): void {
		if (
			status === 401 ||
			status === 403 ||
			(status === 429 && scope !== "shared")
		)
			this.add();
	}
}
