import { expect, test } from "bun:test";
import { ClockWatch } from "../../src/lib/clock-watch.ts";

test.each([
	["a timer that is late", 60_000, 60_000, 0],
	["small steps of the wall clock", 10_900, 10_000, 0],
	["a wall clock that is set forward", 3_610_000, 10_000, 1],
	["a wall clock that is set back", -3_590_000, 10_000, 1],
	["a suspended machine, whose monotonic clock stands still", 3_600_000, 0, 1],
])("%s", (_, wallMs, monotonicMs, jumps) => {
	const clock = { wall: 1_700_000_000_000, monotonic: 5_000 };
	const watch = new ClockWatch(
		() => clock.wall,
		() => clock.monotonic,
	);
	let heard = 0;
	const end = watch.subscribe(() => (heard += 1));
	clock.wall += wallMs;
	clock.monotonic += monotonicMs;
	watch.check();
	watch.check();
	expect(heard).toBe(jumps);
	end();
	clock.wall += 3_600_000;
	watch.check();
	expect(heard).toBe(jumps);
});
