// A temporary ban that Discord refuses.

import { expect, test } from "bun:test";
import * as v from "valibot";
import { toml } from "../../../src/bot/config/settings.ts";
import { startWorld } from "../../support/world.ts";

const route = "PUT /guilds/:guild_id/bans/:user_id";

test("a temporary ban that Discord refuses is over, and the caller is told why", async () => {
	await using world = await startWorld(
		{},
		{
			toml: v.parse(toml, {
				bot_name: "Alpha",
				mcp: { toolsets: "all" },
				features: { moderation: true },
				moderation: {},
			}),
		},
	);
	const { faults, journal } = world.simulator;
	const user_id = world.simulator.user("zoe").id;
	faults.refuse(route, 30035, { times: 1 });
	const { text, isError } = await world.call("temp_ban", { user_ids: [user_id], duration: "1d", reason: "rude" });
	expect(isError).toBe(true);
	expect(text).not.toContain("try again if not");
	expect(text).toContain("code 30035");
	expect((await world.call("list_temp_bans")).text).not.toContain(user_id);
	expect(journal.entries(route)).toEqual([]);
});
