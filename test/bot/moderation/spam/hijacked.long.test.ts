// Under rate limits like Discord's. `FIGURES=1 bun test <this file>` prints how long it takes.

import { expect, test } from "bun:test";
import { defaultTiming } from "../../../../src/bot/moderation/spam/incidents.ts";
import { realisticLimits } from "../../../../src/simulator/rest/rate-limits.ts";
import { until } from "../../../support/until.ts";
import { channels, startHijacking } from "./hijacked.ts";

/** As many as are timed out in two windows of that rate limit. */
const accounts = 15;

test("under Discord's rate limits: copies are deleted long before all accounts are timed out", async () => {
	const limits = { rateLimits: realisticLimits };
	const scene = await startHijacking(limits, defaultTiming, accounts);
	await using world = scene.world;
	const requests = (part: string) =>
		world.simulator.requests.list().filter(({ method, path }) => `${method} ${path}`.includes(part)).length;
	const start = performance.now();
	const posted = scene.post();
	await until("the first detection", () => requests("PATCH ") > 0);
	const detected = performance.now();
	const taken = await posted;
	const written = performance.now();
	await until("no copy is left", () => scene.left() === 0);
	const gone = performance.now();
	const early = scene.timedOut(scene.hijacked);
	await scene.allTimedOut();
	const all = performance.now();
	expect(early).toBeLessThan(accounts);
	expect(scene.left()).toBe(0);
	expect(scene.timedOut(scene.innocent)).toBe(0);
	for (const user of scene.innocent) expect(world.messagesOf(user)).toHaveLength(5);
	if (process.env.FIGURES !== "1") return;
	const seconds = (ms: number) => (ms / 1_000).toFixed(1);
	console.log({
		accounts,
		channels,
		messages: taken,
		seconds_until_detected: seconds(detected - start),
		seconds_from_detection: {
			last_message_posted: seconds(written - detected),
			last_copy_deleted: seconds(gone - detected),
			all_timed_out: seconds(all - detected),
		},
		timed_out_when_last_copy_was_deleted: early,
		bulk_deletions: requests("/messages/bulk-delete"),
	});
});
