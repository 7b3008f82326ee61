// When the bot may log in to Discord's Gateway again.

import { expect, test } from "bun:test";
import { IdentifyThrottler } from "../../../../src/bot/discord/connection/identify-throttler.ts";
import { until } from "../../../support/until.ts";

const { signal: never } = new AbortController();

test("those who wait at the same time are let in one after the other", async () => {
	const clock = { now: 0, looks: 0 };
	const throttler = new IdentifyThrottler(1, () => {
		clock.looks += 1;
		return clock.now;
	});
	let entered = 0;
	const waiting = [1, 2, 3].map(async () => {
		await throttler.waitForIdentify(0, never);
		entered += 1;
	});
	for (const count of [1, 2]) {
		await until("another one is let in", () => entered === count);
		const enough = clock.looks + 6;
		await until("the others look again", () => clock.looks >= enough);
		expect(entered).toBe(count);
		clock.now += 1;
	}
	await Promise.all(waiting);
});

test("whoever waits is let go when its connection closes", async () => {
	const throttler = new IdentifyThrottler(10_000);
	await throttler.waitForIdentify(0, never);
	const connection = new AbortController();
	const waiting = throttler.waitForIdentify(0, connection.signal);
	connection.abort();
	await expect(waiting).rejects.toThrow("abort");
});

test("whoever comes with a connection that has closed is not let in, and holds up nobody", async () => {
	const throttler = new IdentifyThrottler(10_000);
	const gone = throttler.waitForIdentify(0, AbortSignal.abort());
	await expect(gone).rejects.toThrow("abort");
	await throttler.waitForIdentify(0, never);
});
