// A wiped guild is restored by the bot as a process that is killed three times: while it makes roles, while it makes
// channels, and while it gives members their roles.

import { expect, test } from "bun:test";
import { partNames } from "../../../src/guild-document/format/document.ts";
import { startBotProcess } from "../../support/bot-process.ts";
import { connectTo } from "../../support/mcp.ts";
import { startSimulator } from "../../support/simulator.ts";
import { until } from "../../support/until.ts";
import { members, seed } from "./restorable.ts";
import { hashIn, jobIn, runningJobIn } from "./running-service.ts";
import { everything, stateIn, wipe } from "./wiped-guild.ts";

const killedAt = [
	"POST /guilds/:guild_id/roles",
	"POST /guilds/:guild_id/channels",
	"PUT /guilds/:guild_id/members/:user_id/roles/:role_id",
];

test("a bot that is killed three times restores a guild with the roles of its members", async () => {
	await using simulator = await startSimulator({ seed });
	const guild = simulator.guild("The Cooks");
	const state = () => stateIn(simulator, guild);
	for (const { user } of guild.members.values())
		if (user.username === "owner") simulator.world.emojis.add(guild, user, { name: "soup" });
	await using bot = await startBotProcess({
		DISCORD_TOKEN: simulator.bot("alpha").token,
		DISCORD_API_URL: simulator.api,
		DISCORD_CDN_URL: simulator.cdn,
		GUILD_ID: guild.id,
	});

	const call = async (tool: string, args: object): Promise<string> => {
		const mcp = await connectTo(bot.url);
		const { text, isError } = await mcp.call(tool, { ...args });
		if (isError) throw new Error(text);
		return text;
	};
	const apply = async (document: object) =>
		call("apply_guild", { plan_hash: hashIn(await call("plan_guild", { document })) });
	const end = (job_id: string) =>
		until("the job ends", async () => {
			const text = await call("get_job", { job_id });
			return text.includes(", ended ") && text;
		});

	await until("the members are loaded", async () => !(await call("list_members", {})).includes("still being loaded"));
	const ids = members.map((name) => simulator.user(name).id);
	expect(await end(jobIn(await apply(everything(ids, 8))))).toContain(": done, ");
	const parts = partNames.filter((part) => part !== "bans");
	const exported = await call("export_guild", { parts });
	const document = JSON.parse(exported.slice(exported.indexOf("{")));
	const before = state();
	wipe(simulator, guild);
	expect(state()).not.toEqual(before);

	const held = killedAt.map((route) => simulator.faults.stall(route, { after: true, times: 1 }));
	// It is killed before it responds.
	void apply(document).catch(() => {});
	const job = await until("the job runs", async () => runningJobIn(await call("get_job", {})));
	for (const request of held) {
		await until("the bot sends the request", () => request.hits > 0);
		await bot.restart("SIGKILL");
		request.release();
	}
	const text = await end(job);
	expect(state()).toEqual(before);
	const [, done, all] = /: done, (\d+) of (\d+) steps done/.exec(text) ?? [];
	expect({ text, done }).toEqual({ text, done: all ?? "all" });
}, 300_000);
