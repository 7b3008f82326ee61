import { expect, test } from "bun:test";
import { createIdentifyThrottler } from "../../../src/discord/connection/identify-throttler.ts";
import { until } from "../../support/until.ts";

const { signal: never } = new AbortController();

test("concurrent waiters may identify one after the other", async () => {
	const clock = { now: 0, looks: 0 };
	const waitForIdentify = createIdentifyThrottler(1, () => {
		clock.looks += 1;
		return clock.now;
	});
	let entered = 0;
	const waiting = [1, 2, 3].map(async () => {
		await waitForIdentify(never);
		entered += 1;
	});
	for (const count of [1, 2]) {
		await until("another one may identify", () => entered === count);
		const enough = clock.looks + 6;
		await until("the others look again", () => clock.looks >= enough);
		expect(entered).toBe(count);
		clock.now += 1;
	}
	await Promise.all(waiting);
});

test("a wait ends when its connection closes", async () => {
	const waitForIdentify = createIdentifyThrottler(10_000);
	await waitForIdentify(never);
	const connection = new AbortController();
	const waiting = waitForIdentify(connection.signal);
	connection.abort();
	await expect(waiting).rejects.toThrow("abort");
});

test("a closed connection may not identify, and does not delay the next one", async () => {
	const waitForIdentify = createIdentifyThrottler(10_000);
	await expect(waitForIdentify(AbortSignal.abort())).rejects.toThrow("abort");
	await waitForIdentify(never);
});

test("shards of different buckets do not wait for each other, those of one bucket do", async () => {
	const waitForIdentify = createIdentifyThrottler(10_000, () => 0);
	const enter = (shard: number, signal = never) => waitForIdentify(signal, shard, 16);
	await Promise.all([0, 1, 15].map((shard) => enter(shard)));
	const closing = new AbortController();
	const waiting = enter(16, closing.signal);
	await enter(2);
	closing.abort();
	await expect(waiting).rejects.toThrow("abort");
});

test("the waiting shards of a bucket identify in the order of their numbers", async () => {
	let now = 0;
	const waitForIdentify = createIdentifyThrottler(1, () => now);
	await waitForIdentify(never, 9);
	const order: number[] = [];
	const waiting = [3, 1, 2].map(async (shard) => {
		await waitForIdentify(never, shard);
		order.push(shard);
	});
	for (const count of [1, 2, 3]) {
		now += 1;
		await until("one more identifies", () => order.length === count);
	}
	await Promise.all(waiting);
	expect(order).toEqual([1, 2, 3]);
});
