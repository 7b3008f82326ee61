import { expect, test } from "bun:test";
import { generousLimits } from "../../../../src/simulator/rest/rate-limits.ts";
import { until } from "../../../support/until.ts";
import { accounts, startHijacking } from "./hijacked.ts";

test("40 hijacked accounts post into 20 channels: every copy is deleted, and no one else is timed out", async () => {
	const scene = await startHijacking({ rateLimits: generousLimits });
	await using world = scene.world;
	await scene.post();
	await scene.allTimedOut();
	await until("no copy is left", () => scene.left() === 0);
	await until("all entries", () => world.entries().length === accounts);
	expect(scene.timedOut(scene.innocent)).toBe(0);
	for (const user of scene.innocent) expect(world.messagesOf(user)).toHaveLength(5);
	const rows = await world.store.sql<{ count: number }>`
		SELECT COUNT(*) AS count FROM cases WHERE action = ${"spam"} AND state = ${"done"}`;
	expect(rows[0]?.count).toBe(accounts);
	// One request deletes the copies of several accounts: of 800 copies, fewer wait for each on a slow machine.
	const deletions = world.simulator.requests
		.list()
		.filter(({ path }) => path.includes("/messages"))
		.filter(({ method, path }) => method === "DELETE" || path.endsWith("bulk-delete"));
	expect(deletions.length).toBeLessThan(400);
});
