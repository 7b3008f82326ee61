import { describe, expect, jest, test } from "bun:test";
import {
	ClientSignal,
	Deadlines,
	PlainSignal,
	type Signal,
	stopped,
	timeIsUp,
	toAbortSignal,
} from "../../src/lib/signal.ts";
import { until } from "../support/until.ts";

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

describe("the signal of a call", () => {
	test("ends at its own deadline, unless the call is over", () => {
		jest.useFakeTimers();
		try {
			const deadlines = new Deadlines(50);
			const first = deadlines.begin(undefined);
			const over = deadlines.begin(undefined);
			jest.advanceTimersByTime(30);
			// It began after the timer, and still has all of its time.
			const second = deadlines.begin(undefined);
			deadlines.end(over);
			jest.advanceTimersByTime(49);
			expect([first.reason, over.aborted, second.aborted]).toEqual([timeIsUp, false, false]);
			jest.advanceTimersByTime(1);
			expect(second.reason).toBe(timeIsUp);
		} finally {
			jest.useRealTimers();
		}
		expect(timeIsUp.name).toBe("TimeoutError");
	});

	test("ends with its caller's reason, also if the caller has aborted before", () => {
		const deadlines = new Deadlines(60_000);
		const caller = new AbortController();
		const call = deadlines.begin(caller.signal);
		const over = deadlines.begin(caller.signal);
		deadlines.end(over);
		caller.abort("hung up");
		expect([call.reason, over.aborted]).toEqual(["hung up", false]);
		expect(deadlines.begin(caller.signal).reason).toBe("hung up");
		deadlines.end(call);
	});

	test("ends when the program stops, also if the call comes later", () => {
		const deadlines = new Deadlines(60_000);
		const calls = [deadlines.begin(undefined), deadlines.begin(undefined)];
		deadlines.stop();
		for (const { reason } of [...calls, deadlines.begin(undefined)]) expect(reason).toBe(stopped);
	});
});

/** A server whose requests wait until they are released, and the signal of each. */
function startServer() {
	const signals: ClientSignal[] = [];
	const aborts: number[] = [];
	const released = Promise.withResolvers<void>();
	const server = Bun.serve({
		port: 0,
		hostname: "127.0.0.1",
		async fetch(request) {
			const signal = new ClientSignal(request);
			const number = signals.push(signal);
			const listener = () => aborts.push(number);
			signal.addEventListener("abort", listener);
			await released.promise;
			signal.removeEventListener("abort", listener);
			return new Response("done");
		},
	});
	return {
		url: server.url.href,
		signals,
		aborts,
		release: released.resolve,
		[Symbol.asyncDispose]: async () => {
			released.resolve();
			await server.stop(true);
		},
	};
}

describe("the signal of a client", () => {
	test("aborts once when the client disconnects, and not for other clients", async () => {
		await using server = startServer();
		const [leaving, staying] = [new AbortController(), new AbortController()];
		const left = fetch(server.url, { signal: leaving.signal });
		await until("the first request", () => server.signals.length === 1);
		const answered = fetch(server.url, { signal: staying.signal });
		await until("the second request", () => server.signals.length === 2);

		leaving.abort();
		await expect(left).rejects.toThrow();
		await until("the abort", () => server.aborts.length > 0);
		server.release();
		expect(await (await answered).text()).toBe("done");
		expect(server.aborts).toEqual([1]);
		expect(server.signals.map(({ aborted }) => aborted)).toEqual([true, false]);
		expect(server.signals[0]?.reason).toMatchObject({ name: "AbortError" });
	});

	test("follows the request's own signal only if it keeps its listener", async () => {
		const own = new AbortController();
		let asked = 0;
		const request = {
			get signal() {
				asked++;
				return own.signal;
			},
		} as Request;
		const listener = () => {};
		const short = new ClientSignal(request);
		short.addEventListener("abort", listener);
		short.removeEventListener("abort", listener);
		expect(asked).toBe(0);

		const long = new ClientSignal(request);
		let aborts = 0;
		const count = () => aborts++;
		long.addEventListener("abort", count);
		await until("the request's signal is asked for", () => asked > 0);
		own.abort("gone");
		expect([aborts, long.aborted, long.reason]).toEqual([1, true, "gone"]);
		expect(short.aborted).toBe(false);
	});

	test("notices a client that disconnected before the first look, at it", async () => {
		const request = { signal: AbortSignal.abort("gone") } as Request;
		const signal = new ClientSignal(request);
		signal.addEventListener("abort", () => {});
		expect(signal.aborted).toBe(false);
		await until("the abort", () => signal.aborted);
		expect(signal.reason).toBe("gone");
	});
});
