// Limits invalid requests, those answered with 401, 403 or 429. Discord bans an IP address after 10,000 in 10 minutes.
// https://discord.com/developers/docs/topics/rate-limits#invalid-request-limit-aka-cloudflare-bans

import { SlidingWindow } from "../../../lib/sliding-window.ts";

const windowMs = 10 * 60_000;

/**
 * Maximum number of invalid requests (answered with 401, 403 or 429) per bot in 10 minutes. Discord counts them by IP
 * address, which several bots may share.
 */
const defaultLimit = 1_000;

/** Counts the bot's invalid requests, those that Discord answered with 401, 403 or 429, in the last 10 minutes. */
export class InvalidRequests extends SlidingWindow {
	/** `limit` is the maximum number of invalid requests in 10 minutes. `now` is a monotonic clock, in milliseconds. */
	constructor(limit = defaultLimit, now?: () => number) {
		super({ max: limit, windowMs, ...(now && { now }) });
	}

	/**
	 * Counts a response as an invalid request if its status is 401, 403 or 429. A 429 with the rate limit scope "shared"
	 * does not count.
	 */
	note(status: number, scope: string | null): void {
		if (status === 401 || status === 403 || (status === 429 && scope !== "shared")) this.add();
	}
}
