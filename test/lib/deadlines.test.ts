import { expect, jest, test } from "bun:test";
import { Deadlines, type Signal, stopped, timeIsUp } from "../../src/lib/signal.ts";

/** Resolves with the reason for which the signal fires. */
const reasonOf = (signal: Signal) =>
	new Promise<unknown>((resolve) => {
		if (signal.aborted) resolve(signal.reason);
		signal.addEventListener("abort", () => resolve(signal.reason));
	});

test("calls whose time is up end in the order in which they began, and say so", async () => {
	const deadlines = new Deadlines(20);
	const ended: number[] = [];
	const reasons = await Promise.all(
		[0, 1, 2].map(async (number) => {
			const signal = deadlines.begin(undefined);
			const reason = await reasonOf(signal);
			ended.push(number);
			return reason;
		}),
	);
	expect(ended).toEqual([0, 1, 2]);
	expect(reasons).toEqual([timeIsUp, timeIsUp, timeIsUp]);
	expect(timeIsUp.name).toBe("TimeoutError");
});

test("a call that began after the timer still has all of its time", () => {
	jest.useFakeTimers();
	try {
		const deadlines = new Deadlines(50);
		const first = deadlines.begin(undefined);
		jest.advanceTimersByTime(30);
		const second = deadlines.begin(undefined);
		jest.advanceTimersByTime(20);
		expect(first.reason).toBe(timeIsUp);
		jest.advanceTimersByTime(29);
		expect(second.aborted).toBe(false);
		jest.advanceTimersByTime(1);
		expect(second.reason).toBe(timeIsUp);
	} finally {
		jest.useRealTimers();
	}
});

test("a call that is over does not end", async () => {
	const deadlines = new Deadlines(10);
	const over = deadlines.begin(undefined);
	const later = deadlines.begin(undefined);
	deadlines.end(over);
	await reasonOf(later);
	expect(over.aborted).toBe(false);
});

test("a caller that aborts ends the call with its reason, also one that has aborted before", () => {
	const deadlines = new Deadlines(60_000);
	const caller = new AbortController();
	const call = deadlines.begin(caller.signal);
	const over = deadlines.begin(caller.signal);
	deadlines.end(over);
	caller.abort("hung up");
	expect(call.reason).toBe("hung up");
	expect(over.aborted).toBe(false);
	expect(deadlines.begin(caller.signal).reason).toBe("hung up");
	deadlines.end(call);
});

test("stopping ends all calls, and those that come after it", () => {
	const deadlines = new Deadlines(60_000);
	const calls = [deadlines.begin(undefined), deadlines.begin(undefined)];
	deadlines.stop();
	const late = deadlines.begin(undefined);
	for (const signal of [...calls, late]) expect(signal.reason).toBe(stopped);
});
