// The two clocks of the authorization server.

export interface Clocks {
	/** Returns the time in milliseconds since 1970, for what is stored. */
	now(): number;
	/** Returns the time of a monotonic clock in milliseconds, for limits of rates: the other one may be set back. */
	monotonicNow(): number;
}

export const systemClocks: Clocks = {
	now: Date.now,
	monotonicNow: () => performance.now(),
};
