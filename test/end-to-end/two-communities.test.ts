// Two communities with a bot each, through one gateway.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { startBot } from "../../src/bot/bot.ts";
import { connectedConfig } from "../support/bot-config.ts";
import { gatewayToken, startTestGateway, type TestGateway } from "../support/gateway.ts";
import { recordLog } from "../support/log.ts";
import { until } from "../support/until.ts";
import { startWorld, type TestWorld, userNamed } from "../support/world.ts";

const guildOf = (name: string, bot: string, members: string[], channel: string) => ({
	name,
	owner: "owner",
	bots: [{ username: bot, permissions: 8n }],
	roles: [{ name: channel, permissions: 0n }],
	channels: [{ name: channel }],
	members: members.map((username) => ({ username, roles: [] })),
});

/** Unlike most tests, without all tools in tools/list. */
const defaults = { mcp: {} };

let world: TestWorld;
let beta: ReturnType<typeof startBot>;
let gateway: TestGateway;
let guilds: { cooks: string; bakers: string };

beforeAll(async () => {
	world = await startWorld(
		{
			seed: {
				bots: [{ username: "alpha" }, { username: "beta" }],
				users: ["owner", "ada", "zoe", "kim"].map((username) => ({ username })),
				guilds: [
					guildOf("The Cooks", "alpha", ["ada", "zoe"], "soup"),
					guildOf("The Bakers", "beta", ["ada", "kim"], "bread"),
				],
			},
		},
		{ mcpToken: gatewayToken, toml: defaults },
	);
	const { simulator } = world;
	guilds = { cooks: simulator.guild("The Cooks").id, bakers: simulator.guild("The Bakers").id };
	const own = { mcpToken: gatewayToken, guildId: guilds.bakers, toml: defaults };
	const config = connectedConfig(simulator, own, "beta");
	beta = startBot(config, recordLog().log);
	await until("both bots are ready", () => beta.loaded && world.bot.loaded);
	const bots = { alpha: { url: new URL(world.bot.url).origin }, beta: { url: new URL(beta.url).origin } };
	gateway = await startTestGateway(bots);
});
afterAll(async () => {
	await gateway.close();
	await beta.close();
	await world[Symbol.asyncDispose]();
});

test("their members, roles and channels are compared in one call", async () => {
	const text = await gateway.text("compare_guilds", { guild_id: guilds.cooks, with: guilds.bakers });
	const [owner, ada] = ["owner", "ada"].map((name) => `@${name} (${userNamed(world, name).id})`);
	expect(text).toContain(`A: The Cooks (ID: ${guilds.cooks})\nB: The Bakers (ID: ${guilds.bakers})`);
	expect(text).toContain(`members: 2 in both: ${owner}, ${ada}; 2 only in A, 2 only in B`);
	expect(text).toContain("channels: 0 in both; only A: soup; only B: bread");
	const named = { guild_id: guilds.cooks, with: guilds.bakers, all: ["members"] };
	const all = await gateway.text("compare_guilds", named);
	expect(all).toMatch(/only B: .*@kim \(\d+\)/);
});

test("a role of one is planned for the other", async () => {
	const copy_from = { guild_id: guilds.cooks, roles: ["soup"] };
	const text = await gateway.text("plan_guild", { guild_id: guilds.bakers, copy_from });
	expect(text).toContain("Plan for The Bakers");
	expect(text).toContain("+ role soup");
	const unknown = await gateway.text("plan_guild", {
		guild_id: guilds.bakers,
		copy_from: { ...copy_from, roles: ["x"] },
	});
	expect(unknown).toStartWith('ERROR copy_from: alpha: The document of the guild is invalid: no role is called "x"');
});

test("a username is looked up in each guild, and where nobody has it, that guild alone fails", async () => {
	const args = { guild_ids: Object.values(guilds), user_ids: ["@zoe"], reason: "Spam", dry_run: true };
	const text = await gateway.text("ban", args);
	expect(text).toContain(`The Cooks (ID: ${guilds.cooks}):\nDry run: nothing was done.\nWould ban `);
	expect(text).toContain(
		`The Bakers (ID: ${guilds.bakers}), failed:\nuser_ids: The Bakers (ID: ${guilds.bakers}) has no user "@zoe". Give`,
	);
});

test("somebody is banned from both in one call, and each outcome is named", async () => {
	const args = { guild_ids: Object.values(guilds), user_ids: [userNamed(world, "zoe").id], reason: "Spam" };
	const text = await gateway.text("ban", args);
	expect(text).toBe(
		`The Cooks (ID: ${guilds.cooks}), The Bakers (ID: ${guilds.bakers}):\nBanned @zoe (ID: ${args.user_ids[0]}).\nCase 1.`,
	);
	const banned = Object.values(guilds).map((id) => [...(world.simulator.world.guilds.get(id)?.bans.keys() ?? [])]);
	expect(banned).toEqual([args.user_ids, args.user_ids]);
});

test("tools are found without a target, once for both", async () => {
	const text = await gateway.text("find_tools", { query: "ban a member" });
	expect(text).toStartWith("ban (listed: call it directly)");
	expect(text).not.toContain("alpha");
});
