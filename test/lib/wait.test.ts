import { describe, expect, test } from "bun:test";
import { PlainSignal } from "../../src/lib/signal.ts";
import { raceSignal, within } from "../../src/lib/wait.ts";

const never = new Promise<never>(() => {});

describe("within", () => {
	test("resolves with the result of work that settles in time, and of a plain value", async () => {
		expect(await within(60_000, Promise.resolve("done"))).toBe("done");
		expect(await within(60_000, undefined)).toBeUndefined();
	});

	test("rejects as the work does", async () => {
		const error = new Error("broken");
		expect(await within(60_000, Promise.reject(error)).catch(String)).toBe("Error: broken");
	});

	test("is late for work that does not settle", async () => {
		expect(await within(1, never)).toBe("late");
	});

	test("ignores an error of the work after the time", async () => {
		const work = Promise.withResolvers<never>();
		const waited = within(1, work.promise);
		expect(await waited).toBe("late");
		// An unhandled rejection would fail the test.
		work.reject(new Error("too late"));
		expect(await waited).toBe("late");
	});
});

describe("work that a signal may end", () => {
	test("settles as it would without, and leaves no listener", async () => {
		let listeners = 0;
		class CountingSignal extends PlainSignal {
			override addEventListener(type: "abort", listener: () => void): void {
				listeners += 1;
				super.addEventListener(type, listener);
			}
			override removeEventListener(type: "abort", listener: () => void): void {
				listeners -= 1;
				super.removeEventListener(type, listener);
			}
		}
		const signal = new CountingSignal();
		expect(await raceSignal(Promise.resolve("done"), signal)).toBe("done");
		const error = new Error("broken");
		expect(await raceSignal(Promise.reject(error), signal).catch((e) => e)).toBe(error);
		expect(listeners).toBe(0);
	});

	test("rejects with the signal's reason, fired before or meanwhile", async () => {
		const signal = new PlainSignal();
		const never = new Promise(() => {});
		const racing = raceSignal(never, signal);
		signal.abort("enough");
		for (const race of [racing, raceSignal(never, signal)]) expect(await race.catch((reason) => reason)).toBe("enough");
	});
});
