import { expect, test } from "bun:test";
import { Overloaded, Slots } from "../../src/gateway/slots.ts";

const never = new AbortController().signal;

test("up to the maximum are taken at once, and given back", () => {
	const slots = new Slots({ max: 2, maxWaitMs: 60_000 });
	expect(slots.take(never)).toBeUndefined();
	expect(slots.take(never)).toBeUndefined();
	expect(slots.taken).toBe(2);
	slots.release();
	expect(slots.taken).toBe(1);
	expect(slots.take(never)).toBeUndefined();
	slots.release();
	slots.release();
	expect(slots.taken).toBe(0);
});

test("the next ones wait in order, and as many as there are slots", async () => {
	const slots = new Slots({ max: 2, maxWaitMs: 60_000 });
	slots.take(never);
	slots.take(never);
	const order: string[] = [];
	const first = slots.take(never)?.then(() => order.push("first"));
	const second = slots.take(never)?.then(() => order.push("second"));
	expect(() => slots.take(never)).toThrow(Overloaded);
	expect(() => slots.take(never)).toThrow(
		"2 calls are in flight, and as many wait",
	);
	slots.release();
	await first;
	expect(order).toEqual(["first"]);
	expect(slots.taken).toBe(2);
	slots.release();
	await second;
	slots.release();
	slots.release();
	expect(slots.taken).toBe(0);
	expect(slots.take(never)).toBeUndefined();
});

test("who waits too long is told so, and is not handed a slot later", async () => {
	const slots = new Slots({ max: 1, maxWaitMs: 5 });
	slots.take(never);
	await expect(slots.take(never)).rejects.toThrow(
		new Overloaded(
			"1 calls are in flight, and none of them ended within 0.005 s",
		),
	);
	slots.release();
	expect(slots.taken).toBe(0);
});

test("who gives up while waiting leaves the queue, with the signal's reason", async () => {
	const slots = new Slots({ max: 1, maxWaitMs: 60_000 });
	slots.take(never);
	const controller = new AbortController();
	const waiting = slots.take(controller.signal);
	const reason = new Error("enough");
	controller.abort(reason);
	await expect(waiting).rejects.toBe(reason);
	const next = slots.take(never);
	slots.release();
	await next;
	expect(slots.taken).toBe(1);
	slots.release();
	expect(slots.taken).toBe(0);
});

test("who has given up already does not wait", async () => {
	const slots = new Slots({ max: 1, maxWaitMs: 60_000 });
	slots.take(never);
	const reason = new Error("gone");
	await expect(slots.take(AbortSignal.abort(reason))).rejects.toBe(reason);
	slots.release();
	expect(slots.taken).toBe(0);
});

test("who is handed a slot in the moment of giving up has it or has left, never both", async () => {
	for (const releaseFirst of [true, false]) {
		const slots = new Slots({ max: 1, maxWaitMs: 60_000 });
		slots.take(never);
		const controller = new AbortController();
		const outcome = slots.take(controller.signal)?.then(
			() => "has it",
			() => "has left",
		);
		if (releaseFirst) slots.release();
		controller.abort();
		if (!releaseFirst) slots.release();
		const has = (await outcome) === "has it";
		expect(has).toBe(releaseFirst);
		expect(slots.taken).toBe(has ? 1 : 0);
	}
});
