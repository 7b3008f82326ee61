// Limits invalid requests, those answered with 401, 403 or 429. Discord bans an IP address after 10,000 in 10 minutes.
// https://discord.com/developers/docs/topics/rate-limits#invalid-request-limit-aka-cloudflare-bans

import { SlidingWindow } from "../../lib/sliding-window.ts";

const windowMs = 10 * 60_000;

/** Of one bot: Discord counts by IP address, which several may share. */
const defaultLimit = 1_000;

export class InvalidRequests extends SlidingWindow {
	/** In 10 minutes. `now` is monotonic, in milliseconds. */
	constructor(limit = defaultLimit, now?: () => number) {
		super({ max: limit, windowMs, ...(now && { now }) });
	}

	/** A 429 with the scope "shared" does not count. */
	note(status: number, scope: string | null): void {
		if (status === 401 || status === 403 || (status === 429 && scope !== "shared")) this.add();
	}
}
