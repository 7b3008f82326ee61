// Messages of requests for approval that are over, or replaced by another one.

import { expect, test } from "bun:test";
import { until } from "../../support/until.ts";
import { buttonsOf, fieldsOf, key, pendingId, startApprovalWorld } from "./approval-world.ts";

test("a message says when its request expires for as long as it is open", async () => {
	await using world = await startApprovalWorld();
	const user_ids = [world.simulator.user("zoe").id];
	pendingId(await world.call(key("k"), "ban", { user_ids }));
	expect(fieldsOf(world.posts()[0]).Expires).toMatch(/^<t:\d+:R>$/);
	await world.press("ada", "Deny");
	const denied = await world.shown("denied");
	expect(fieldsOf(denied)).not.toHaveProperty("Expires");
	expect(fieldsOf(denied)).toHaveProperty("Denied by");
});

test("buttons that a replaced message still has are gone once one of them is pressed", async () => {
	await using world = await startApprovalWorld();
	const { simulator, guild } = world;
	const { id } = simulator.user("zoe");
	pendingId(await world.call(key("k"), "ban", { user_ids: [id] }));
	const [first] = world.posts();
	if (!first) throw new Error("the request is posted");
	const old = structuredClone(first.components);
	const zoe = guild.members.get(id);
	if (zoe) simulator.world.members.edit(guild, zoe, { nick: "Someone else" });
	await world.call(undefined, "get_member", { user_id: id });
	expect(await world.press("ada", "Approve")).toContain("posted again");
	expect(buttonsOf(world.posts()[0])).toEqual([]);
	// The bot's edit of the old message is lost.
	Object.assign(first, { components: old });
	expect(await world.press("ada", "Deny", first)).toContain("posted again in another message");
	await until("its buttons are gone", () => buttonsOf(world.posts()[0]).length === 0);
	expect(buttonsOf(world.posts()[1])).toContain("Deny");
});
