// The two clocks of the authorization server.

export interface Clocks {
	/** Returns the wall-clock time in milliseconds since 1970. Used for times in the database. */
	now(): number;
	/**
	 * Returns the time of a monotonic clock in milliseconds. Used for rate limits, because the wall clock can be set back.
	 */
	monotonicNow(): number;
}

export const systemClocks: Clocks = {
	now: Date.now,
	monotonicNow: () => performance.now(),
};
