// The tools of guilds.

import { expect, test } from "bun:test";
import { startWorld } from "../../support/world.ts";

test("get_guild_info shows a guild's facts, one per line", async () => {
	await using world = await startWorld();
	const { simulator, guild } = world;
	const { text } = await world.call("get_guild_info");
	expect(text.split("\n")).toEqual([
		`The Cooks (ID: ${guild.id})`,
		"description: none",
		`owner: Ada (@ada, ID: ${simulator.user("ada").id})`,
		"members: 6, about 6 of them online",
		"channels: 4, shown by list_channels",
		"roles: 5, shown by list_roles",
		"boosts: 0, level 0",
		"features: none",
		"verification level: None",
		expect.stringMatching(/^created: \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
	]);
});
