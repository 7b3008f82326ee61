// The loop of scans and steps alone. With features, stores and kills: test/bot/features/kill-anywhere.long.test.ts.

import { expect, spyOn, test } from "bun:test";
import { AsyncLocalStorage } from "node:async_hooks";
import { createReconciler, type ReconcilerOptions, type Step } from "../../src/lib/reconciler.ts";
import { jumpClock } from "../support/jump-clock.ts";
import { until } from "../support/until.ts";

/** A reconciler whose due steps are `rows`; `work` is what a step does. A done step is no longer due. */
function reconcile(
	rows: string[],
	work: (row: string) => Promise<void>,
	options: Partial<ReconcilerOptions> = {},
	afterRead = async () => {},
) {
	const due = new Set(rows);
	const started: string[] = [];
	const step = (row: string): Step => ({
		key: row,
		lane: row.split(" ")[0] ?? "",
		async run() {
			started.push(row);
			await work(row);
			due.delete(row);
		},
	});
	const reconciler = createReconciler({
		async scan() {
			const rows = [...due].map(step);
			await afterRead();
			return { due: rows };
		},
		onScanFailure(error) {
			throw error;
		},
		maxConcurrent: 2,
		backOffMs: [1, 4],
		...options,
	});
	reconciler.wake();
	return { due, started, reconciler };
}

test("at most `maxConcurrent` steps of a lane run, each once at a time, in order; other lanes go on", async () => {
	const held = Promise.withResolvers<void>();
	const { due, started, reconciler } = reconcile(["a 1", "a 2", "a 3", "b 1", "b 2"], async (row) =>
		row.startsWith("a") ? held.promise : undefined,
	);
	await until("the other lane is done", () => due.size === 3);
	for (let wakes = 0; wakes < 10; wakes++) reconciler.wake();
	expect(started).toEqual(["a 1", "a 2", "b 1", "b 2"]);
	held.resolve();
	await until("all are done", () => due.size === 0);
	expect(started).toHaveLength(5);
});

test("a failed step is retried until it succeeds, and delays no other", async () => {
	let failures = 3;
	const { due, started } = reconcile(["a 1", "a 2"], async (row) => {
		if (row === "a 1" && failures-- > 0) throw new Error("fails");
	});
	await until("all are done", () => due.size === 0);
	expect(started.slice(0, 2)).toEqual(["a 1", "a 2"]);
	expect(started.filter((row) => row === "a 1")).toHaveLength(4);
});

test("a step that fails again waits for longer", async () => {
	const timers = spyOn(globalThis, "setTimeout");
	const { started, reconciler } = reconcile(
		["a 1"],
		async () => {
			throw new Error("fails");
		},
		{ backOffMs: [1, 3_600_000] },
	);
	await until("it has failed eight times", () => started.length >= 8);
	await reconciler.close(60_000);
	const waits = timers.mock.calls.map(([, ms = 0]) => ms);
	timers.mockRestore();
	// The seventh wait: 64 ms, or randomly up to half of that less.
	expect(waits.some((ms) => ms > 31 && ms <= 64)).toBe(true);
});

test("`retryAll` does not wait for the back-off", async () => {
	let isBroken = true;
	const { due, started, reconciler } = reconcile(
		["a 1"],
		async () => {
			if (isBroken) throw new Error("fails");
		},
		{ backOffMs: [3_600_000, 3_600_000] },
	);
	await until("it has failed", () => started.length === 1);
	isBroken = false;
	await until("it is done", () => {
		reconciler.retryAll();
		return due.size === 0;
	});
});

test("a jump of the wall clock starts a scan, unless the reconciler is closed", async () => {
	let scans = 0;
	const reconciler = createReconciler({
		maxConcurrent: 1,
		backOffMs: [1, 4],
		onScanFailure(error) {
			throw error;
		},
		async scan() {
			scans += 1;
			return { due: [], nextMs: 3_600_000 };
		},
	});
	reconciler.wake();
	await until("it has scanned", () => scans === 1);
	jumpClock();
	await until("it has scanned again", () => scans > 1);
	await reconciler.close(60_000);
	const before = scans;
	jumpClock();
	await new Promise(setImmediate);
	expect(scans).toBe(before);
});

test("a scan does not start a step again that ended after the scan began", async () => {
	const scans: PromiseWithResolvers<void>[] = [];
	const held = Promise.withResolvers<void>();
	const { due, started, reconciler } = reconcile(
		["a 1"],
		() => held.promise,
		{},
		() => {
			const gate = Promise.withResolvers<void>();
			scans.push(gate);
			return gate.promise;
		},
	);
	scans[0]?.resolve();
	await until("the step runs", () => started.length === 1);
	reconciler.wake();
	await until("the second scan has read the row", () => scans.length === 2);
	held.resolve();
	await until("the step is done", () => due.size === 0);
	scans[1]?.resolve();
	await until("the third scan", () => scans.length === 3);
	scans[2]?.resolve();
	await reconciler.close(60_000);
	expect(started).toHaveLength(1);
});

test("a failed scan is reported and repeated, and so is one after `nextMs`", async () => {
	const errors: unknown[] = [];
	let scans = 0;
	reconcile([], async () => {}, {
		async scan() {
			scans += 1;
			if (scans <= 3) throw scans;
			return scans < 6 ? { due: [], nextMs: 1 } : { due: [] };
		},
		onScanFailure: (error) => errors.push(error),
	});
	await until("six scans", () => scans === 6);
	expect(errors).toEqual([1, 2, 3]);
});

test.each([0, 60_000])("after `close(%d)` nothing starts", async (graceMs) => {
	const held = Promise.withResolvers<void>();
	const { due, started, reconciler } = reconcile(["a 1", "a 2", "a 3"], () => held.promise);
	await until("two run", () => started.length === 2);
	const closed = reconciler.close(graceMs);
	if (graceMs > 0) held.resolve();
	await closed;
	expect(due.size).toBe(graceMs > 0 ? 1 : 3);
	held.resolve();
	reconciler.wake();
	reconciler.retryAll();
	await held.promise;
	expect(started).toHaveLength(2);
});

test("a scan in progress at `close` starts nothing, and is the last", async () => {
	const gate = Promise.withResolvers<void>();
	let scans = 0;
	const { started, reconciler } = reconcile(
		["a 1"],
		async () => {},
		{},
		() => {
			scans += 1;
			return gate.promise;
		},
	);
	reconciler.wake();
	let isClosed = false;
	const closed = reconciler.close(60_000).then(() => {
		isClosed = true;
	});
	await new Promise(setImmediate);
	expect(isClosed).toBe(false);
	gate.resolve();
	await closed;
	expect([started.length, scans]).toEqual([0, 1]);
});

test("steps do not run in the async context of the caller of wake", async () => {
	const context = new AsyncLocalStorage<string>();
	const seen: (string | undefined)[] = [];
	const { due, reconciler } = reconcile([], async () => {
		seen.push(context.getStore());
	});
	for (const [count, wake] of [reconciler.wake, reconciler.retryAll].entries()) {
		due.add(`a ${count}`);
		context.run("a call", wake);
		await until("it is done", () => due.size === 0);
	}
	expect(seen).toEqual([undefined, undefined]);
});
