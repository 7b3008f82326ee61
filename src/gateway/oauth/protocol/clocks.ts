// The two clocks of the authorization server.

export interface Clocks {
	/** Milliseconds since 1970, for the database. */
	now(): number;
	/** Milliseconds, for rate limits, because the wall clock can be set back. */
	monotonicNow(): number;
}

export const systemClocks: Clocks = { now: Date.now, monotonicNow: () => performance.now() };
