// The clock of the tests, for programs that get an environment of their own.

// What shifted-clock.ts sets. Bun's tests are in UTC where no zone is set.
const { TZ = "UTC", ...others } = process.env;
const shift = [
	"LD_PRELOAD",
	"FAKETIME",
	"FAKETIME_DONT_FAKE_MONOTONIC",
	"NO_FAKE_STAT",
];

/** The variables that give a program the time and the time zone of the tests. */
export const clock: Record<string, string> = {
	TZ,
	...Object.fromEntries(
		shift.flatMap((name) => (others[name] ? [[name, others[name]]] : [])),
	),
};
