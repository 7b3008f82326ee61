import { expect, test } from "bun:test";
import { Limiter } from "../../../src/bot/commands/cooldown.ts";

test("each key has max attempts in any window, and refusals are counted", () => {
	let now = 1_000;
	const limiter = new Limiter({ max: 2, windowMs: 10_000, now: () => now });
	const taken = (key: string) => {
		const { waitS, refusals } = limiter.take(key);
		return [waitS, refusals];
	};
	expect(taken("a")).toEqual([0, 0]);
	now += 4_000;
	expect(taken("a")).toEqual([0, 0]);
	expect(taken("a")).toEqual([6, 1]);
	expect(taken("a")).toEqual([6, 2]);
	expect(taken("b")).toEqual([0, 0]);
	now += 5_999;
	expect(taken("a")).toEqual([1, 3]);
	now += 1;
	expect(taken("a")).toEqual([0, 0]);
	expect(taken("a")).toEqual([4, 1]);
});

test("hasRoom counts nothing", () => {
	let now = 0;
	const limiter = new Limiter({ max: 1, windowMs: 10_000, now: () => now });
	expect(limiter.hasRoom("a")).toBe(true);
	expect(limiter.take("a").waitS).toBe(0);
	expect(limiter.hasRoom("a")).toBe(false);
	expect(limiter.hasRoom("b")).toBe(true);
	now = 10_000;
	expect(limiter.hasRoom("a")).toBe(true);
});

test("a refunded attempt does not count", () => {
	const limiter = new Limiter({ max: 1, windowMs: 10_000, now: () => 1_000 });
	limiter.refund("a");
	limiter.take("a");
	limiter.refund("a");
	expect(limiter.take("a")).toEqual({ waitS: 0, refusals: 0 });
	expect(limiter.take("a")).toEqual({ waitS: 10, refusals: 1 });
});

test("at most 10,000 keys are kept", () => {
	let now = 0;
	const limiter = new Limiter({ max: 1, windowMs: 10_000, now: () => now });
	limiter.take("first");
	for (let index = 0; index < 9_998; index++) limiter.take(`${index}`);
	expect(limiter.take("first").waitS).toBe(10);
	limiter.take("another");
	expect(limiter.take("first").waitS).toBe(10);
	// The key with the oldest attempt is dropped.
	limiter.take("one more");
	expect(limiter.take("first").waitS).toBe(0);
	now += 20_000;
	expect(limiter.take("another").waitS).toBe(0);
});
