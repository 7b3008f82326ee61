// The queue of presses by itself: its limits, its order, and the share of the rate limit that it leaves.

import { expect, test } from "bun:test";
import { defaultPressLimits, PressQueue } from "../../../../src/bot/moderation/role-menus/role-menus.ts";
import { until } from "../../../support/until.ts";

const limits = { ...defaultPressLimits, running: 1, waiting: 2 };

/** Notes in `order` when each press gets its turn. */
function enterAll(queue: PressQueue, order: string[], names: string[]) {
	return names.map((name) => {
		const place = queue.enter("guild", name);
		place.turn().then(
			() => order.push(name),
			() => order.push(`not ${name}`),
		);
		return place;
	});
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test("presses are carried out in the order in which they came, also if one leaves while it waits", async () => {
	const queue = new PressQueue(limits);
	const order: string[] = [];
	const [first, second, third] = enterAll(queue, order, ["a", "b", "c"]);
	expect(() => queue.enter("guild", "d")).toThrow("Many people");
	await settle();
	expect(order).toEqual(["a"]);
	second?.leave();
	first?.leave();
	await settle();
	expect(order).toEqual(["a", "not b", "c"]);
	third?.leave();
	await settle();
	const [again] = enterAll(queue, order, ["e"]);
	await settle();
	expect(order.at(-1)).toBe("e");
	again?.leave();
});

test("a full guild leaves room for other guilds", () => {
	const queue = new PressQueue(limits);
	for (const name of ["a", "b", "c"]) queue.enter("one", name);
	expect(() => queue.enter("one", "d")).toThrow("Many people");
	queue.enter("two", "a");
});

test("when only the reserved requests are left, the next press waits until the rate limit resets", async () => {
	const queue = new PressQueue({ ...limits, waitMs: 60_000 });
	const order: string[] = [];
	const [first] = enterAll(queue, order, ["a", "b"]);
	await settle();
	queue.note("guild", { limit: 10, remaining: 3, resetAfterMs: 100_000 });
	queue.note("guild", { limit: 10, remaining: 2, resetAfterMs: 2_000 });
	first?.leave();
	await settle();
	expect(order).toEqual(["a"]);
	await until("the next press has its turn", () => order.length === 2);
	expect(order).toEqual(["a", "b"]);
	queue.note("guild", { limit: 10, remaining: 0, resetAfterMs: 100_000 });
	const [third] = enterAll(queue, order, ["c"]);
	expect(order).toEqual(["a", "b"]);
	third?.leave();
});

test("a pause that is longer than the wait refuses presses at once", async () => {
	const queue = new PressQueue({ ...limits, running: 2, waitMs: 1_000 });
	const order: string[] = [];
	enterAll(queue, order, ["a"]);
	queue.note("guild", { limit: 10, remaining: 0, resetAfterMs: 100_000 });
	enterAll(queue, order, ["b"]);
	await settle();
	expect(order).toEqual(["not a", "not b"].slice(-order.length));
	expect(order).toContain("not b");
});

test("after the end, those who wait are told, and nobody can enter", async () => {
	const queue = new PressQueue(limits);
	const order: string[] = [];
	enterAll(queue, order, ["a", "b"]);
	await settle();
	queue.close();
	await settle();
	expect(order).toEqual(["a", "not b"]);
	expect(() => queue.enter("guild", "c")).toThrow("The bot is restarting");
});
