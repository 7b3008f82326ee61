// The clock of the tests, for programs with an environment of their own.

// The variables that shifted-clock.ts sets. Bun's tests use UTC by default.
const { TZ = "UTC", ...others } = process.env;
const shift = ["LD_PRELOAD", "FAKETIME", "FAKETIME_DONT_FAKE_MONOTONIC", "NO_FAKE_STAT"];

/** The environment variables for the time and time zone of the tests. */
export const clock: Record<string, string> = {
	TZ,
	...Object.fromEntries(shift.flatMap((name) => (others[name] ? [[name, others[name]]] : []))),
};
