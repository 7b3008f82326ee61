// A guild's settings: who changes them, what Discord takes, and who hears of it.

import { expect, test } from "bun:test";
import {
	AuditLogEvent,
	ChannelType,
	GuildVerificationLevel,
	Locale,
} from "discord.js";
import { as, connect, type Simulator, startSimulator } from "../../support.ts";

function cooks(simulator: Simulator) {
	const guild = simulator.guild("The Cooks");
	return {
		...{ guild, path: `/guilds/${guild.id}` },
		alpha: as(simulator, simulator.bot("alpha")),
		general: simulator.channel("The Cooks/general").id,
		lounge: simulator.channel("The Cooks/Lounge").id,
	};
}

test("discord.js edits a guild, is told so, and the audit log has what changed", async () => {
	await using simulator = await startSimulator();
	await using bot = await connect(simulator);
	const { guild, general, lounge } = cooks(simulator);
	const edited = await bot.client.guilds.cache.get(guild.id)?.edit({
		name: "The Chefs",
		verificationLevel: GuildVerificationLevel.High,
		afkChannel: lounge,
		afkTimeout: 900,
		systemChannel: general,
		preferredLocale: Locale.French,
		premiumProgressBarEnabled: true,
		reason: "a new look",
	});
	expect(edited).toMatchObject({ name: "The Chefs", afkChannelId: lounge });
	expect(guild).toMatchObject({
		name: "The Chefs",
		verification_level: GuildVerificationLevel.High,
		afk_timeout: 900,
		system_channel_id: general,
		preferred_locale: "fr",
		premium_progress_bar_enabled: true,
	});
	const told = await bot.event("GUILD_UPDATE");
	expect(told).toMatchObject({ id: guild.id, afk_channel_id: lounge });
	expect(guild.auditLog.at(-1)).toMatchObject({
		action_type: AuditLogEvent.GuildUpdate,
		target_id: guild.id,
		reason: "a new look",
	});
	expect(guild.auditLog.at(-1)?.changes).toContainEqual({
		key: "name",
		old_value: "The Cooks",
		new_value: "The Chefs",
	});
	expect(guild.auditLog.at(-1)?.changes).toHaveLength(7);
});

test("a guild's settings take Discord's values, and say which field is at fault", async () => {
	await using simulator = await startSimulator();
	const { guild, path, alpha, general, lounge } = cooks(simulator);
	const cases = [
		[{ name: "x" }, "name"],
		[{ description: "x".repeat(301) }, "description"],
		[{ verification_level: 5 }, "verification_level"],
		[{ explicit_content_filter: "ALL_MEMBERS" }, "explicit_content_filter"],
		[{ afk_timeout: 100 }, "afk_timeout"],
		[{ afk_channel_id: general }, "afk_channel_id"],
		[{ system_channel_id: lounge }, "system_channel_id"],
		[{ rules_channel_id: guild.id }, "rules_channel_id"],
		[{ preferred_locale: "xx" }, "preferred_locale"],
	] as const;
	for (const [body, field] of cases) {
		const answer = await alpha("PATCH", path, body);
		expect(answer.code).toBe(50035);
		expect(Object.keys(answer.faults)).toEqual([field]);
	}
	expect(guild.auditLog).toEqual([]);
	const zoe = as(simulator, simulator.user("zoe"));
	expect((await zoe("PATCH", path, { name: "Mine" })).code).toBe(50013);
	expect((await alpha("PATCH", path, { icon: null })).status).toBe(501);
});

test("a community keeps its rules, its updates and its filter", async () => {
	await using simulator = await startSimulator();
	const { guild, path, alpha, general } = cooks(simulator);
	const updates = simulator.world.channels.add(guild, {
		name: "updates",
		type: ChannelType.GuildText,
	});
	simulator.world.guilds.edit(guild, {
		features: ["COMMUNITY"],
		rules_channel_id: general,
		public_updates_channel_id: updates.id,
	});
	for (const body of [
		{ rules_channel_id: null },
		{ public_updates_channel_id: null },
		{ verification_level: 0 },
		{ explicit_content_filter: 1 },
	])
		expect(Object.keys((await alpha("PATCH", path, body)).faults)).toEqual(
			Object.keys(body),
		);
	const deleted = () => alpha("DELETE", `/channels/${general}`);
	expect((await deleted()).code).toBe(50074);
	const moved = { rules_channel_id: updates.id };
	expect((await alpha("PATCH", path, moved)).status).toBe(200);
	expect((await deleted()).status).toBe(200);
});

test("a bot's highest role stays above the roles it orders, and @everyone below all", async () => {
	await using simulator = await startSimulator();
	await using bot = await connect(simulator);
	const { guild, path, alpha } = cooks(simulator);
	const role = (name: string) => {
		for (const one of guild.roles.values()) if (one.name === name) return one;
		throw new Error(`no role ${name}`);
	};
	const order = () =>
		[...guild.roles.values()]
			.sort((a, b) => b.position - a.position)
			.map(({ name }) => name);
	const place = (name: string, position: number) =>
		alpha("PATCH", `${path}/roles`, [{ id: role(name).id, position }]);
	for (const position of [4, 5, 99])
		expect((await place("Newcomer", position)).code).toBe(50013);
	expect((await place("@everyone", 2)).code).toBe(50028);
	// discord.js lists all roles, with those that stay.
	const found = bot.client.guilds.cache.get(guild.id)?.roles;
	await found?.setPosition(role("Newcomer").id, 3);
	expect(order()).toEqual([
		"alpha",
		"Newcomer",
		"Staff",
		"Regular",
		"@everyone",
	]);
});
