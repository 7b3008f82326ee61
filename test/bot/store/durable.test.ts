// Durable work alone. With features, stores and kills: test/bot/kills.

import { expect, spyOn, test } from "bun:test";
import { AsyncLocalStorage } from "node:async_hooks";
import { Durable, type DurableOptions, NotNow, type Step } from "../../../src/bot/store/durable.ts";
import { StoreUnavailable } from "../../../src/bot/store/unavailable.ts";
import { ToolError } from "../../../src/lib/tool-error.ts";
import { jumpClock } from "../../support/jump-clock.ts";
import { recordLog } from "../../support/log.ts";
import { until } from "../../support/until.ts";

/** Work whose due steps are `rows`; `work` is what a step does. A done step is no longer due. */
function start(
	rows: string[],
	work: (row: string) => Promise<void>,
	options: Partial<DurableOptions> = {},
	afterRead = async () => {},
) {
	const due = new Set(rows);
	const started: string[] = [];
	const step = (row: string): Step => ({
		key: row,
		lane: row.split(" ")[0] ?? "",
		failure: "could not do it",
		fields: { row },
		async run() {
			started.push(row);
			await work(row);
			due.delete(row);
		},
	});
	const { log, lines: texts } = recordLog();
	const lines = () => texts.map((line) => JSON.parse(line) as Record<string, unknown>);
	const durable = new Durable({
		name: "rows",
		log,
		async scan() {
			const steps = [...due].map(step);
			await afterRead();
			return steps;
		},
		maxConcurrent: 2,
		backOffMs: [1, 4],
		...options,
	});
	durable.wake();
	return { due, started, durable, step, lines };
}

test("at most `maxConcurrent` steps of a lane run, each once at a time, in order; other lanes go on", async () => {
	const held = Promise.withResolvers<void>();
	const { due, started, durable } = start(["a 1", "a 2", "a 3", "b 1", "b 2"], async (row) =>
		row.startsWith("a") ? held.promise : undefined,
	);
	await until("the other lane is done", () => due.size === 3);
	for (let wakes = 0; wakes < 10; wakes++) durable.wake();
	expect(started).toEqual(["a 1", "a 2", "b 1", "b 2"]);
	held.resolve();
	await until("all are done", () => due.size === 0);
	expect(started).toHaveLength(5);
});

test("a failed step is retried until it succeeds, and delays no other", async () => {
	let failures = 3;
	const { due, started } = start(["a 1", "a 2"], async (row) => {
		if (row === "a 1" && failures-- > 0) throw new Error("fails");
	});
	await until("all are done", () => due.size === 0);
	expect(started.slice(0, 2)).toEqual(["a 1", "a 2"]);
	expect(started.filter((row) => row === "a 1")).toHaveLength(4);
});

test("a step that fails again waits for longer", async () => {
	const timers = spyOn(globalThis, "setTimeout");
	const { started, durable } = start(
		["a 1"],
		async () => {
			throw new Error("fails");
		},
		{ backOffMs: [1, 3_600_000] },
	);
	await until("it has failed eight times", () => started.length >= 8);
	await durable.close(60_000);
	const waits = timers.mock.calls.map(([, ms = 0]) => ms);
	timers.mockRestore();
	// The seventh wait: 64 ms, or randomly up to half of that less.
	expect(waits.some((ms) => ms > 31 && ms <= 64)).toBe(true);
});

test("a step that becomes due between two readings of the clock is not forgotten", async () => {
	let ms = 0;
	using _clock = spyOn(performance, "now").mockImplementation(() => ++ms);
	using _random = spyOn(Math, "random").mockReturnValue(1);
	let failures = 0;
	const { due, durable } = start(
		["a"],
		async () => {
			if (failures++ === 0) throw new NotNow("not yet");
		},
		{ backOffMs: [1.5, 1.5] },
	);
	await until("it is retried", () => due.size === 0);
	await durable.close();
});

test("`retryAll` does not wait for the back-off", async () => {
	let isBroken = true;
	const { due, started, durable } = start(
		["a 1"],
		async () => {
			if (isBroken) throw new Error("fails");
		},
		{ backOffMs: [3_600_000, 3_600_000] },
	);
	await until("it has failed", () => started.length === 1);
	isBroken = false;
	await until("it is done", () => {
		durable.retryAll();
		return due.size === 0;
	});
});

test("a jump of the wall clock starts a scan, unless it is closed", async () => {
	let scans = 0;
	const { durable } = start([], async () => {}, {
		async scan() {
			scans += 1;
			return [];
		},
	});
	await until("it has scanned", () => scans === 1);
	jumpClock();
	await until("it has scanned again", () => scans > 1);
	await durable.close(60_000);
	const before = scans;
	jumpClock();
	await new Promise(setImmediate);
	expect(scans).toBe(before);
});

test("a scan does not start a step again that ended after the scan began", async () => {
	const scans: PromiseWithResolvers<void>[] = [];
	const held = Promise.withResolvers<void>();
	const { due, started, durable } = start(
		["a 1"],
		() => held.promise,
		{},
		() => {
			const gate = Promise.withResolvers<void>();
			scans.push(gate);
			return gate.promise;
		},
	);
	await until("the first scan", () => scans.length === 1);
	scans[0]?.resolve();
	await until("the step runs", () => started.length === 1);
	durable.wake();
	await until("the second scan has read the row", () => scans.length === 2);
	held.resolve();
	await until("the step is done", () => due.size === 0);
	scans[1]?.resolve();
	await until("the third scan", () => scans.length === 3);
	scans[2]?.resolve();
	await durable.close(60_000);
	expect(started).toHaveLength(1);
});

test("a failed scan is logged and repeated, and so is one before a step is due", async () => {
	let scans = 0;
	const later = { key: "a 1", inMs: 1, failure: "", run: async () => expect.unreachable() };
	const { lines } = start([], async () => {}, {
		async scan() {
			scans += 1;
			if (scans === 1) throw new StoreUnavailable("for a test");
			if (scans <= 3) throw new Error("fails");
			return scans < 6 ? [later] : [];
		},
	});
	await until("six scans", () => scans === 6);
	expect(lines().filter(({ message }) => String(message).includes("due work"))).toHaveLength(2);
});

test("a failed step is logged with its reason, but not if it must only wait", async () => {
	const errors = [
		new NotNow(),
		new StoreUnavailable("for a test"),
		new ToolError("There is no such channel."),
		new Error(),
	];
	const { due, lines } = start(["a 1"], async () => {
		const error = errors.shift();
		if (error) throw error;
	});
	await until("it is done", () => due.size === 0);
	expect(lines().map(({ level, message, row, reason }) => [level, message, row, reason])).toEqual([
		["warn", "could not do it, will retry", "a 1", "There is no such channel."],
		["error", "could not do it: internal error", "a 1", undefined],
	]);
});

test("an added step runs until it succeeds, also while scans fail, before a scanned one with its key", async () => {
	let isBroken = true;
	const { due, started, durable } = start(
		["a 1"],
		async () => {},
		{},
		async () => {
			if (isBroken) throw new Error("fails");
		},
	);
	let tries = 0;
	const added = durable.add({
		key: "a 1",
		failure: "could not do it",
		async run() {
			tries += 1;
			if (tries === 2) isBroken = false;
			if (tries < 3) throw new NotNow();
			expect(started).toEqual([]);
		},
	});
	await added;
	await until("all are done", () => due.size === 0);
	expect([tries, durable.added]).toEqual([3, 0]);
});

test("an added step waits for its retry, however its failure and the end of a scan coincide", async () => {
	const turns = async (count: number) => {
		for (let turn = 0; turn < count; turn += 1) await undefined;
	};
	for (let index = 0; index < 144; index += 1) {
		const { durable } = start([], async () => {}, {
			backOffMs: [3_600_000, 3_600_000],
			async scan() {
				await turns(index % 12);
				return [];
			},
		});
		let tries = 0;
		void durable.add({
			key: "a 1",
			failure: "",
			async run() {
				tries += 1;
				await turns(index / 12);
				if (tries > 1) await new Promise(() => {});
				throw new NotNow();
			},
		});
		for (let wakes = 0; wakes < 3; wakes += 1) {
			await new Promise(setImmediate);
			durable.wake();
		}
		expect([tries, durable.added]).toEqual([1, 1]);
	}
});

test("a step that is added again while it waits runs once, and once more while it runs", async () => {
	const { durable, step, started, due } = start([], () => gate.promise);
	let gate = Promise.withResolvers<void>();
	for (let count = 0; count < 3; count += 1) void durable.add(step("a 1"));
	await until("it runs", () => started.length === 1);
	for (let count = 0; count < 3; count += 1) void durable.add(step("a 1"));
	const first = gate;
	gate = Promise.withResolvers<void>();
	first.resolve();
	await until("it runs again", () => started.length === 2);
	gate.resolve();
	await until("it is done", () => durable.added === 0 && due.size === 0);
	await durable.close();
	expect(started).toHaveLength(2);
});

test("no scanned step with a held key starts, and the end of the held work starts it", async () => {
	const gate = Promise.withResolvers<void>();
	const { due, started, durable } = start([], async () => {});
	// Both wait for the same promise, as the cases of one call do.
	const held = ["a 1", "a 3"].map((key) => durable.hold(key, () => gate.promise));
	due.add("a 1").add("a 2").add("a 3");
	durable.wake();
	await until("the other is done", () => due.size === 2);
	expect(started).toEqual(["a 2"]);
	gate.resolve();
	await Promise.all(held);
	await until("all are done", () => due.size === 0);
});

test("`close` ends the wait for added steps, and waits for held work", async () => {
	const gate = Promise.withResolvers<void>();
	const { durable } = start([], async () => {});
	const added = durable.add({ key: "a 1", failure: "", run: async () => Promise.reject(new NotNow()) });
	let isEnded = false;
	const held = durable.hold("a 2", async () => {
		await gate.promise;
		isEnded = true;
	});
	const closed = durable.close(60_000);
	await added;
	gate.resolve();
	await closed;
	expect(isEnded).toBe(true);
	await held;
	await durable.add({ key: "a 1", failure: "", run: async () => expect.unreachable() });
});

test.each([0, 60_000])("after `close(%d)` nothing starts", async (graceMs) => {
	const held = Promise.withResolvers<void>();
	const { due, started, durable } = start(["a 1", "a 2", "a 3"], () => held.promise);
	await until("two run", () => started.length === 2);
	const closed = durable.close(graceMs);
	if (graceMs > 0) held.resolve();
	await closed;
	expect(due.size).toBe(graceMs > 0 ? 1 : 3);
	held.resolve();
	durable.wake();
	durable.retryAll();
	await held.promise;
	expect(started).toHaveLength(2);
});

test("a scan in progress at `close` starts nothing, and is the last", async () => {
	const gate = Promise.withResolvers<void>();
	let scans = 0;
	const { started, durable } = start(
		["a 1"],
		async () => {},
		{},
		() => {
			scans += 1;
			return gate.promise;
		},
	);
	durable.wake();
	let isClosed = false;
	const closed = durable.close(60_000).then(() => {
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
	const { due, durable } = start([], async () => {
		seen.push(context.getStore());
	});
	for (const [count, wake] of [durable.wake, durable.retryAll].entries()) {
		due.add(`a ${count}`);
		context.run("a call", wake);
		await until("it is done", () => due.size === 0);
	}
	expect(seen).toEqual([undefined, undefined]);
});
