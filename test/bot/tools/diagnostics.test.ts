// get_bot_info and run_setup_check.

import { expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { startBot } from "../../../src/bot/bot.ts";
import { demoSeed } from "../../../src/simulator/seed.ts";
import { connectedConfig } from "../../support/bot-config.ts";
import { storeSettings } from "../../support/guild-settings.ts";
import { recordLog } from "../../support/log.ts";
import { connectTo } from "../../support/mcp.ts";
import { startSimulator } from "../../support/simulator.ts";
import { until } from "../../support/until.ts";
import {
	addToBakers,
	denyBot,
	memberNamed,
	roleNamed,
	startWorld,
	type TestWorld,
	worldTest,
} from "../../support/world.ts";

const report = async (world: TestWorld) => (await world.call("run_setup_check")).text.split("\n");

/** A seed in which the bot has only these privileged intents. */
function seedWith(...privilegedIntents: ("GuildMembers" | "MessageContent")[]) {
	const seed = demoSeed();
	const bots = seed.bots.map((bot) => ({ ...bot, privilegedIntents }));
	return { ...seed, bots };
}

test("get_bot_info shows names, connection and tools, and no secret", async () => {
	await using world = await startWorld({ seed: seedWith("GuildMembers") });
	const { simulator } = world;
	const { text } = await world.call("get_bot_info");
	const { id, token } = simulator.bot("alpha");
	expect(text).toStartWith(`@alpha (ID: ${id}), called Alpha`);
	expect(text).toContain(`\napplication: ID: ${id}\n`);
	expect(text).toMatch(/\nversion: \d+\.\d+\.\d+\S*, running since \d{4}-/);
	expect(text).toMatch(/\nDiscord's Gateway: connected since \S+Z, latency: (\d+ ms|not measured yet)\n/);
	expect(text).toContain("\nServer Members Intent: switched on, used");
	expect(text).toContain("\nMessage Content Intent: switched off, not used");
	expect(text).toContain("\nPresence Intent: switched off, not used");
	expect(text).toContain("\nguilds: 1, shown by list_guilds\n");
	const count = (await world.mcp.listTools()).length;
	expect(text).toContain(`\ntools: ${count}, of the toolsets core, `);
	expect(text).not.toContain(token);
});

worldTest(
	"a missing permission is a warning with the tools that need it and an invite that grants it",
	async (world) => {
		const { simulator, guild } = world;
		const role = roleNamed(world, "alpha");
		const bits = BigInt(role.permissions) & ~(PermissionFlagsBits.KickMembers | PermissionFlagsBits.MentionEveryone);
		simulator.world.roles.edit(guild, role, { permissions: String(bits) });
		await world.heard();
		const lines = await report(world);
		const warning = lines.find((line) => line.includes("KICK_MEMBERS"));
		expect(warning).toStartWith(
			"warning: KICK_MEMBERS: the bot lacks KICK_MEMBERS in the guild as a whole, but these tools need it: kick",
		);
		const url = new URL(/https:\S+/.exec(warning ?? "")?.[0] ?? "");
		const granted = BigInt(url.searchParams.get("permissions") ?? 0);
		expect(granted & PermissionFlagsBits.KickMembers).not.toBe(0n);
		expect(granted & bits).toBe(bits);
		expect(lines.join("\n")).toMatch(/MENTION_EVERYONE: .* these tools need it: .*\bsend_message \(with mentions\)/);
		simulator.world.roles.edit(guild, role, { permissions: String(PermissionFlagsBits.Administrator) });
		await world.heard();
		expect((await report(world)).join("\n")).not.toContain("not granted");
	},
);

worldTest("roles above the bot's, and channels that it cannot see, are warnings that name them", async (world) => {
	const { simulator, guild } = world;
	const [first] = await report(world);
	expect(first).toStartWith(`Setup in The Cooks (ID: ${guild.id}): `);
	expect(await report(world)).toContain(
		`ok: rank: @alpha (ID: ${roleNamed(world, "alpha").id}) ranks above all other roles (${guild.roles.size - 1})`,
	);
	const boss = simulator.world.roles.add(guild, { name: "Boss", position: 99 });
	const vault = simulator.world.channels.add(guild, { name: "vault" });
	await denyBot(world, vault, PermissionFlagsBits.ViewChannel);
	const lines = await report(world);
	expect(lines.find((line) => line.startsWith("warning: rank: "))).toContain(
		`but below 1, so the bot cannot manage these and their members: @Boss (ID: ${boss.id})`,
	);
	expect(lines.find((line) => line.startsWith("warning: channels: "))).toContain(
		`hidden from the bot: ID ${vault.id}. Next step: `,
	);
	const warnings = lines.filter((line) => line.startsWith("warning: "));
	expect(lines[0]).toContain(` ${warnings.length} warning(s), 0 error(s).`);
});

worldTest("roles with ADMINISTRATOR that the bot could give are a warning that names them", async (world) => {
	const { simulator, guild } = world;
	const line = async () => {
		await world.heard();
		return (await report(world)).find((one) => one.includes(": Administrator"));
	};
	const none = "ok: Administrator roles: the bot can give none";
	const permissions = String(PermissionFlagsBits.Administrator);
	const own = roleNamed(world, "alpha");
	const add = (name: string, position: number, more = {}) =>
		simulator.world.roles.add(guild, { name, position, permissions, ...more });
	add("Boss", own.position + 10);
	add("Another bot", 1, { managed: true });
	expect(await line()).toBe(none);
	const admins = add("Admins", 1);
	expect(await line()).toBe(
		`warning: Administrator roles: the bot can make anyone an administrator, because it ranks above @Admins (ID: ${admins.id}). Next step: drag each above @alpha (ID: ${own.id}) in the guild's settings, unless the bot is meant to do so`,
	);
	const without = BigInt(own.permissions) & ~(PermissionFlagsBits.ManageRoles | PermissionFlagsBits.Administrator);
	simulator.world.roles.edit(guild, own, { permissions: String(without) });
	expect(await line()).toBe(none);
});

worldTest("what the guild's features and boosts forbid is reported", async (world) => {
	const { simulator, guild } = world;
	const about = async (...features: TestWorld["guild"]["features"]) => {
		simulator.world.guilds.edit(guild, { features, premium_tier: 2 });
		await world.heard();
		return (await report(world)).filter((line) => /^\w+: (community|boosts|pruning): /.test(line));
	};
	const boosts = "ok: boosts: level 2, with at most 256000 bit/s in voice channels";
	const without = (kinds: string) => `ok: community: off, so that the guild can have no ${kinds} channels`;
	expect(await about()).toEqual([without("stage or announcement"), boosts]);
	expect(await about("NEWS")).toEqual([without("stage"), boosts]);
	expect(await about("COMMUNITY")).toEqual([boosts]);
	const restricted = ["COMMUNITY", "PRUNE_REQUIRES_ADMIN"] as const;
	expect(await about(...restricted)).toEqual([
		boosts,
		"warning: pruning: the guild lets only administrators prune members (PRUNE_REQUIRES_ADMIN), and refuses prune_members to the bot",
	]);
	const permissions = String(PermissionFlagsBits.Administrator);
	simulator.world.roles.edit(guild, roleNamed(world, "alpha"), { permissions });
	expect(await about(...restricted)).toEqual([boosts, "ok: pruning: for administrators only, as the bot is"]);
});

test("an intent that is switched off is an error, with the tools that need it", async () => {
	await using world = await startWorld({ seed: seedWith("GuildMembers") });
	const lines = await report(world);
	expect(lines.find((line) => line.startsWith("error: "))).toMatch(
		/^error: Message Content Intent: the Message Content Intent is switched off, but these tools need it: .*\. Next step: The operator of the bot can switch the Message Content Intent on/,
	);
	expect(lines).toContain("ok: Server Members Intent: switched on");
	expect(lines[0]).toContain(" 1 error(s).");
});

worldTest("a bot that is timed out, or has no role, is reported as an error", async (world) => {
	const { simulator, guild } = world;
	simulator.world.members.edit(guild, memberNamed(world, "alpha"), {
		roles: [],
		communication_disabled_until: new Date(Date.now() + 3_600_000).toISOString(),
	});
	await world.heard();
	const text = (await report(world)).join("\n");
	expect(text).toContain("error: permissions: the bot is timed out in");
	expect(text).toContain("error: rank: the bot has no role");
});

test("a setting that names what does not exist is a warning, and guilds out of reach are not named", async () => {
	await using simulator = await startSimulator();
	const [cooks, bakers] = [simulator.guild("The Cooks"), addToBakers(simulator)];
	const nobody = "12345678901234567";
	const toml = { mcp: { toolsets: ["diagnostics"], guilds: [cooks.id] } };
	const { log } = recordLog();
	const given = connectedConfig(simulator, { guildId: cooks.id, toml });
	await storeSettings(given, {
		[cooks.id]: { "welcome.channel": simulator.channel("The Cooks/general").id, "join_role.role": nobody },
		[bakers.id]: { "join_role.role": nobody },
	});
	const bot = startBot(given, log);
	try {
		await until("the bot has loaded", () => bot.loaded);
		const mcp = await connectTo(bot.url);
		const { text } = await mcp.call("run_setup_check");
		expect(text).toContain(`ok: guilds: The Cooks (ID: ${cooks.id})\n`);
		expect(text).toContain("ok: welcome.channel: #general (ID: ");
		expect(text).toContain(`warning: join_role.role: there is no role ${nobody} in The Cooks (ID: ${cooks.id})`);
		expect(text).not.toContain("Bakers");
		const info = await mcp.call("get_bot_info");
		expect(info.text).toContain("\nguilds: 1, ");
		expect(info.text).toEndWith("of the toolsets diagnostics");
	} finally {
		await bot.close();
	}
});
