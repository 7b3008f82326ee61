import { spyOn } from "bun:test";
import { clockWatch } from "../../src/lib/clock-watch.ts";

/** Tells everything that watches the clock of this process that it has jumped, as it is told within 10 s. */
export function jumpClock(ms = 3_600_000): void {
	const clock = spyOn(Date, "now").mockReturnValue(Date.now() + ms);
	try {
		clockWatch.check();
	} finally {
		clock.mockRestore();
	}
	clockWatch.check();
}
