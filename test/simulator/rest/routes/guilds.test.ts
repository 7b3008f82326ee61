// Guild settings: permissions, valid values and events.

import { expect } from "bun:test";
import {
	AuditLogEvent,
	ChannelType,
	GuildVerificationLevel,
	Locale,
} from "discord.js";
import { connect, testWith } from "../../support.ts";

const test = testWith(({ guild, channelNamed }) => ({
	path: `/guilds/${guild.id}`,
	general: channelNamed("general").id,
	lounge: channelNamed("Lounge").id,
}));

test("discord.js edits a guild, with an event and an audit log entry", async (given) => {
	const { guild, general, lounge, simulator } = given;
	await using bot = await connect(simulator);
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

test("invalid guild settings are refused at their field", async (given) => {
	const { guild, path, alpha, general, lounge, as } = given;
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
	const zoe = as("zoe");
	expect((await zoe("PATCH", path, { name: "Mine" })).code).toBe(50013);
	expect((await alpha("PATCH", path, { icon: null })).status).toBe(501);
});

test("a community cannot remove its rules, updates and content filter", async (given) => {
	const { guild, path, alpha, general, simulator } = given;
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

test("a bot's highest role stays above the roles it orders, and @everyone below all", async (given) => {
	const { guild, path, alpha, simulator, role } = given;
	await using bot = await connect(simulator);
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
