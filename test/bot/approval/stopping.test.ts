// Calls that wait for a decision while the bot stops.

import { expect, test } from "bun:test";
import { until } from "../../support/until.ts";
import { pendingId, startApprovalWorld } from "./approval-world.ts";

test("a bot that stops ends the calls that wait for a decision before those that wait for Discord", async () => {
	await using world = await startApprovalWorld({ mcp: () => ({ approval_for_root: true }), waitMs: 60_000 });
	const { faults } = world.simulator;
	const user_ids = [world.simulator.user("zoe").id];
	const held = faults.stall("GET /guilds/:guild_id/bans");
	const ended: string[] = [];
	const waiting = world.call(undefined, "ban", { user_ids });
	await until("it is posted", () => world.posts().length > 0);
	const reading = world.call(undefined, "get_bans");
	await until("Discord is asked", () => held.hits > 0);
	void waiting.then(() => ended.push("waiting"));
	void reading.catch(() => {}).then(() => ended.push("reading"));
	const restarted = world.restart();
	const id = pendingId(await waiting);
	expect(ended).toEqual(["waiting"]);
	held.release();
	await restarted;
	expect(await world.state(undefined, id)).toContain(" | pending | ");
});
