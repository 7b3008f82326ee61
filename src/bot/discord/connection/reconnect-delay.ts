// How long the bot waits between two connections to Discord's Gateway.

import { backOffMs } from "../../../lib/back-off.ts";

export interface ReconnectTiming {
	/** The first delay and the maximum, in milliseconds. The delay doubles after each failure. */
	backOffMs: readonly [number, number];
	/**
	 * Maximum delay in a short outage, in milliseconds, so that the bot is back soon after Discord. In a longer outage the
	 * maximum is a hundredth of the time since it began. Discord does not limit connections that do not identify.
	 * https://github.com/discord/discord-api-docs/issues/1369
	 */
	shortOutageBackOffMs: number;
	/** How long a session must last, in milliseconds, so that the delay starts again at its first value. */
	stableMs: number;
	/**
	 * Delay after Invalid Session (opcode 9), in milliseconds: a random time between these two.
	 * https://github.com/discord/discord-api-docs/pull/244
	 */
	invalidSessionMs: readonly [number, number];
}

/** How a connection ended. */
export interface ConnectionEnd {
	/** Whether the bot identified, which counts towards Discord's daily limit of logins. A resume does not. */
	hasIdentified?: boolean;
	/** Whether Discord sent Invalid Session (opcode 9). */
	isInvalid?: boolean;
	/** How long the session was ready, in milliseconds; undefined if it never was. */
	readyMs?: number | undefined;
}

export class ReconnectDelay {
	#failures = 0;
	#logins = 0;
	#since: number | undefined;

	constructor(
		private readonly timing: ReconnectTiming,
		private readonly now = () => performance.now(),
	) {}

	/** Number of failures in a row. An invalid session is none. */
	get failures(): number {
		return this.#failures;
	}

	/** Returns how many milliseconds to wait before the next connection. */
	next({ hasIdentified, isInvalid, readyMs = -1 }: ConnectionEnd = {}): number {
		const { backOffMs: range, shortOutageBackOffMs, stableMs } = this.timing;
		const [firstMs, maxMs] = range;
		const hasLasted = readyMs >= stableMs;
		if (hasLasted) {
			this.#failures = 0;
			this.#logins = 0;
			this.#since = undefined;
		}
		this.#since ??= this.now();
		// Discord allows 1,000 logins a day: those that bring no session wait as in a long outage.
		const loginMs = hasIdentified && !hasLasted ? backOffMs(this.#logins++, range) : 0;
		if (isInvalid) {
			const [leastMs, mostMs] = this.timing.invalidSessionMs;
			const waitMs = leastMs + Math.random() * (mostMs - leastMs);
			return Math.max(waitMs, loginMs);
		}
		const outageMaxMs = (this.now() - this.#since) / 100;
		const mostMs = Math.min(Math.max(shortOutageBackOffMs, outageMaxMs), maxMs);
		return Math.max(backOffMs(this.#failures++, [firstMs, mostMs]), loginMs);
	}
}
