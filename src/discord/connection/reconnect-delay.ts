import { backOffMs } from "../../lib/back-off.ts";

interface ReconnectTiming {
	/** The first delay and the maximum. It doubles after each failure. */
	backOffMs: readonly [number, number];
	/**
	 * Maximum delay in a short outage; in a longer one, a hundredth of its time. Discord does not limit connections that
	 * do not identify. https://github.com/discord/discord-api-docs/issues/1369
	 */
	shortOutageBackOffMs: number;
	/** How long a session must last, so that the delay starts again at its first value. */
	stableMs: number;
	/**
	 * After Invalid Session (opcode 9) a random time between these. https://github.com/discord/discord-api-docs/pull/244
	 */
	invalidSessionMs: readonly [number, number];
}

export interface ConnectionEnd {
	/** Counts towards Discord's daily limit of logins. A resume does not. */
	hasIdentified?: boolean;
	/** Opcode 9. */
	isInvalid?: boolean;
	/** Undefined if the session never was ready. */
	readyMs?: number | undefined;
}

export class ReconnectDelay {
	/** In a row. An invalid session is none. */
	failures = 0;
	#logins = 0;
	#since: number | undefined;

	constructor(
		private readonly timing: ReconnectTiming,
		private readonly now = () => performance.now(),
	) {}

	next({ hasIdentified, isInvalid, readyMs = -1 }: ConnectionEnd = {}): number {
		const { backOffMs: range, shortOutageBackOffMs, stableMs } = this.timing;
		const [firstMs, maxMs] = range;
		const hasLasted = readyMs >= stableMs;
		if (hasLasted) {
			this.failures = 0;
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
		return Math.max(backOffMs(this.failures++, [firstMs, mostMs]), loginMs);
	}
}
