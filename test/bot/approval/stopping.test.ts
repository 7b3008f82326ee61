// Calls that wait for a decision while the bot stops.

import { expect, test } from "bun:test";
import { until } from "../../support/until.ts";
import { pendingId, startApprovalWorld } from "./approval-world.ts";

test("a call that waits for a decision is told its request when the bot stops", async () => {
	await using world = await startApprovalWorld({
		mcp: () => ({ approval_for_root: true }),
		waitMs: 60_000,
	});
	const answer = world.call(undefined, "ban", {
		user_ids: [world.simulator.user("zoe").id],
	});
	await until("it is posted", () => world.posts().length > 0);
	await world.restart();
	const id = pendingId(await answer);
	expect(await world.state(undefined, id)).toContain(" | pending | ");
});
