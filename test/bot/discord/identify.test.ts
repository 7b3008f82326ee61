// When the bot may log in to Discord's Gateway again.

import { expect, test } from "bun:test";
import { IdentifyThrottler } from "../../../src/bot/discord/identify.ts";

const { signal: never } = new AbortController();

test("those who wait at the same time are let in one after the other", async () => {
	const intervalMs = 30;
	const throttler = new IdentifyThrottler(intervalMs);
	const times = await Promise.all(
		[1, 2, 3].map(async () => {
			await throttler.waitForIdentify(0, never);
			return performance.now();
		}),
	);
	const [first = 0, , third = 0] = times.toSorted((a, b) => a - b);
	expect(third - first).toBeGreaterThan(1.5 * intervalMs);
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
