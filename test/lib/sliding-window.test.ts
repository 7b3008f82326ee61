import { expect, test } from "bun:test";
import { SlidingWindow } from "../../src/lib/sliding-window.ts";

test("takes so many events within any window, and says when it has room again", () => {
	let now = 1_000;
	const window = new SlidingWindow({ max: 2, windowMs: 100, now: () => now });
	expect(window.take()).toBe(true);
	now += 40;
	expect([window.take(), window.take()]).toEqual([true, false]);
	expect([window.count, window.waitMs]).toEqual([2, 60]);
	now += 60;
	expect([window.count, window.waitMs]).toEqual([1, 0]);
	expect([window.take(), window.take()]).toEqual([true, false]);
	expect(window.waitMs).toBe(40);
});

test("an event added to a full window makes it wait for longer", () => {
	let now = 0;
	const window = new SlidingWindow({ max: 2, windowMs: 100, now: () => now });
	for (now of [0, 10, 20]) window.add();
	expect([window.count, window.waitMs]).toEqual([2, 90]);
});

test("a window for no events never has room", () => {
	const window = new SlidingWindow({ max: 0, windowMs: 5, now: () => 1_000 });
	expect(window.take()).toBe(false);
});

test("a refunded event does not count", () => {
	const window = new SlidingWindow({ max: 1, windowMs: 100, now: () => 5 });
	window.refund();
	expect(window.take()).toBe(true);
	window.refund();
	expect([window.count, window.take(), window.take()]).toEqual([0, true, false]);
});
