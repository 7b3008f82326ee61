// The bot as a process that gets a real SIGKILL in the middle of its durable work. Each kind of work, killed after each of
// its writes: test/bot/kills.

import { expect, test } from "bun:test";
import { hashIn, runningJobIn } from "../bot/guild-documents/running-service.ts";
import { startBotProcess } from "../support/bot-process.ts";
import { connectTo } from "../support/mcp.ts";
import { startSimulator } from "../support/simulator.ts";
import { botEnvOf, onBoth } from "../support/stores.ts";
import { until } from "../support/until.ts";
import { roleNamed } from "../support/world.ts";

const giving = "PUT /guilds/:guild_id/members/:user_id/roles/:role_id";
const banning = "PUT /guilds/:guild_id/bans/:user_id";
const creating = "POST /guilds/:guild_id/channels";
/** More than the 40 s after which the bot decides a case whose process has ended. */
const agedMs = 45_000;

onBoth((databases) => {
	test("a bot that is killed ends a raid's roles, a job and a ban after its next start, and does nothing twice", async () => {
		const place = await databases.place();
		await using simulator = await startSimulator();
		const { world, faults, journal } = simulator;
		const guild = simulator.guild("The Cooks");
		const role = roleNamed({ guild }, "Newcomer");
		await using bot = await startBotProcess(
			{
				DISCORD_TOKEN: simulator.bot("alpha").token,
				DISCORD_API_URL: simulator.api,
				DISCORD_CDN_URL: simulator.cdn,
				GUILD_ID: guild.id,
				...botEnvOf(place),
			},
			`bot_name = "Alpha"\n[mcp]\ntoolsets = "all"\n[features]\nmoderation = true\n`,
		);
		const call = async (tool: string, args: object) => (await connectTo(bot.url)).call(tool, { ...args });
		await call("set_settings", { settings: { "join_role.role": role.id } });
		const raid = (name: string, count: number) =>
			Array.from({ length: count }, (_, at) => world.members.add(guild, world.users.add({ username: `${name}${at}` })));
		// From then on it knows who joins while it is away.
		const marks = () => place.look("SELECT guild_id FROM join_role_marks");
		await until("it has noted who was there before", async () => (await marks()).length === 1);

		const document = { version: 1, channels: [{ name: "one" }, { name: "two" }, { name: "three" }] };
		const { text: plan } = await call("plan_guild", { document });
		const held = [creating, banning].map((route) => faults.stall(route, { after: true, times: 1 }));
		const { id: zoe } = simulator.user("zoe");
		// The bot ends before it responds to these.
		void call("apply_guild", { plan_hash: hashIn(plan) }).catch(() => {});
		void call("ban", { user_ids: [zoe] }).catch(() => {});
		await until("both are held", () => held.every(({ hits }) => hits === 1));
		const job = runningJobIn((await call("get_job", {})).text);
		const people = raid("raider", 30);
		await until("some have the role", () => journal.entries(giving).length > 10);
		await place.look(`UPDATE cases SET created_at = created_at - ${agedMs}`);
		await bot.restart("SIGKILL", () => people.push(...raid("late", 8)));

		await until("everyone has the role", () => people.every(({ roles }) => roles.includes(role.id)));
		const end = await until("the job ends", async () => {
			const { text } = await call("get_job", { job_id: job });
			return text.includes(", ended ") && text;
		});
		expect(end).toContain(": done, 3 of 3 steps done");
		const made = [...guild.channels.values()].filter(({ name }) => ["one", "two", "three"].includes(name));
		expect([made.length, journal.entries(creating).length]).toEqual([3, 3]);
		const cases = () => place.look<{ action: string; state: string }>("SELECT action, state FROM cases");
		await until("the case is decided", async () => (await cases()).every(({ state }) => state !== "asked"));
		expect(await cases()).toEqual([{ action: "ban", state: "done" }]);
		expect([guild.bans.has(zoe), journal.entries(banning).length]).toEqual([true, 1]);
		// Only the write under way at the kill may be sent again.
		const given = journal.entries(giving).filter(({ path }) => people.some(({ user }) => path.includes(user.id)));
		expect(given.length).toBeLessThanOrEqual(people.length + 1);
	}, 120_000);
});
