import { describe, expect, test } from "bun:test";
import { PlainSignal, type Signal, toAbortSignal } from "../../src/lib/signal.ts";

/** A signal with so many listeners, and what they wrote when they were called. */
function withListeners(count: number) {
	const signal = new PlainSignal();
	const called: number[] = [];
	const listeners = Array.from({ length: count }, (_, at) => () => {
		called.push(at);
	});
	for (const listener of listeners) signal.addEventListener("abort", listener);
	return { signal, called, listeners };
}

describe("a plain signal", () => {
	test.each([0, 1, 2, 5])("tells all of %d listeners, once", (count) => {
		const { signal, called, listeners } = withListeners(count);
		expect([signal.aborted, signal.reason]).toEqual([false, undefined]);
		signal.abort("late");
		signal.abort("later");
		expect([signal.aborted, signal.reason]).toEqual([true, "late"]);
		expect(called.toSorted()).toEqual([...listeners.keys()]);
	});

	test.each([0, 1, 2])("does not tell one that was removed (%d)", (removed) => {
		const { signal, called, listeners } = withListeners(3);
		const listener = listeners[removed] as () => void;
		signal.removeEventListener("abort", listener);
		// One that is no listener is nothing to it.
		signal.removeEventListener("abort", listener);
		signal.abort("late");
		expect(called.toSorted()).toEqual([0, 1, 2].filter((at) => at !== removed));
	});

	test("takes objects as listeners, as an AbortSignal does", () => {
		for (const controller of [new AbortController(), new PlainSignal()]) {
			const signal: Signal = "signal" in controller ? controller.signal : controller;
			const called: string[] = [];
			const listener = (name: string) => ({ handleEvent: () => void called.push(name) });
			const removed = listener("removed");
			signal.addEventListener("abort", removed);
			signal.addEventListener("abort", listener("first"));
			signal.addEventListener("abort", listener("second"));
			signal.removeEventListener("abort", removed);
			controller.abort("late");
			expect(called.toSorted()).toEqual(["first", "second"]);
		}
	});

	test("tells the others where one throws, whose error is reported", () => {
		const { signal, called } = withListeners(0);
		const reported: unknown[] = [];
		const { reportError } = globalThis;
		globalThis.reportError = (error) => reported.push(error);
		try {
			for (const at of [0, 1, 2])
				signal.addEventListener("abort", () => {
					called.push(at);
					throw at;
				});
			signal.abort("late");
		} finally {
			globalThis.reportError = reportError;
		}
		expect(called).toEqual([0, 1, 2]);
		expect(reported).toEqual([0, 1, 2]);
	});

	test("does not call listeners added after the abort, like an AbortSignal", () => {
		const { signal, called } = withListeners(0);
		signal.abort("late");
		signal.addEventListener("abort", () => called.push(1));
		signal.abort("later");
		expect(called).toEqual([]);
	});
});

describe("as an AbortSignal", () => {
	test("one that is one is itself", () => {
		const { signal } = new AbortController();
		expect(toAbortSignal(signal)).toBe(signal);
	});

	test("a plain one fires with it, for the same reason", () => {
		const signal = new PlainSignal();
		const abortSignal = toAbortSignal(signal);
		expect(abortSignal.aborted).toBe(false);
		signal.abort("late");
		expect(abortSignal.reason).toBe("late");
		expect(toAbortSignal(signal).reason).toBe("late");
	});
});
