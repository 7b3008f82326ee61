// Guild settings: permissions, valid values and events.

import { expect } from "bun:test";
import {
	AuditLogEvent,
	ChannelType,
	GuildFeature,
	GuildVerificationLevel,
	Locale,
	PermissionFlagsBits,
} from "discord.js";
import { type Cooks, connect, testWith } from "../../support.ts";

const test = testWith(({ guild, channelNamed }) => ({
	path: `/guilds/${guild.id}`,
	general: channelNamed("general").id,
	lounge: channelNamed("Lounge").id,
}));

test("discord.js edits a guild, with an event and an audit log entry", async (given) => {
	const { guild, general, lounge, simulator } = given;
	await using bot = await connect(simulator);
	const edited = await bot.client.guilds.cache
		.get(guild.id)
		?.edit({
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

test("invalid guild settings are refused at their field", async ({ guild, path, alpha, general, lounge, as }) => {
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
	expect((await alpha("PATCH", path, { banner: "data:image/png;base64,AAAA" })).status).toBe(501);
});

test("a community cannot remove its rules, updates and content filter", async (given) => {
	const { guild, path, alpha, general, simulator } = given;
	const updates = simulator.world.channels.add(guild, { name: "updates", type: ChannelType.GuildText });
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
		expect(Object.keys((await alpha("PATCH", path, body)).faults)).toEqual(Object.keys(body));
	const deleted = () => alpha("DELETE", `/channels/${general}`);
	expect((await deleted()).code).toBe(50074);
	const moved = { rules_channel_id: updates.id };
	expect((await alpha("PATCH", path, moved)).status).toBe(200);
	expect((await deleted()).status).toBe(200);
});

/** Gives the bot ADMINISTRATOR. */
function makeAdministrator({ world, guild, role }: Cooks): void {
	world.roles.edit(guild, role("alpha"), { permissions: String(PermissionFlagsBits.Administrator) });
}

test("an administrator enables and disables COMMUNITY, with both channels in the request", async (given) => {
	const { guild, path, alpha, general, channelNamed, simulator } = given;
	const updates = channelNamed("staff").id;
	const features = ["COMMUNITY"];
	const channels = { rules_channel_id: general, public_updates_channel_id: updates };
	const levels = { verification_level: 1, explicit_content_filter: 2 };
	const all = { features, ...channels, ...levels };
	const change = (body: object) => alpha("PATCH", path, body);
	expect((await change(all)).code).toBe(50013);
	makeAdministrator(given);
	expect((await change({ features, ...levels })).code).toBe(40006);
	const { public_updates_channel_id: _, ...withoutUpdates } = all;
	expect((await change(withoutUpdates)).code).toBe(40006);
	for (const [key, value] of [
		["verification_level", 0],
		["explicit_content_filter", 1],
		["public_updates_channel_id", channelNamed("Lounge").id],
	] as const) {
		const { faults } = await change({ ...all, [key]: value });
		expect(Object.keys(faults)).toEqual([key]);
	}
	expect((await change({ features, ...channels })).faults).toEqual({ verification_level: "BASE_TYPE_CHOICES" });
	expect(guild.auditLog).toEqual([]);

	await using bot = await connect(simulator);
	const found = bot.client.guilds.cache.get(guild.id);
	await found?.edit({
		features: [GuildFeature.Community],
		rulesChannel: general,
		publicUpdatesChannel: updates,
		verificationLevel: 1,
		explicitContentFilter: 2,
		reason: "open",
	});
	expect(guild.features).toEqual(["COMMUNITY"]);
	expect(await bot.event("GUILD_UPDATE")).toMatchObject({ features });
	expect(guild.auditLog.at(-1)).toMatchObject({
		reason: "open",
		changes: expect.arrayContaining([{ key: "features", old_value: [], new_value: features }]),
	});
	const news = { name: "news", type: ChannelType.GuildAnnouncement };
	const made = await alpha("POST", `${path}/channels`, news);
	expect(made.status).toBe(201);
	const type = ChannelType.GuildAnnouncement;
	const changed = await alpha("PATCH", `/channels/${general}`, { type });
	expect(changed.code).toBe(50086);
	expect((await change({ features: [] })).status).toBe(200);
	expect(guild.features).toEqual([]);
	expect(guild.rules_channel_id).toBe(general);
	const { id } = made.json<{ id: string }>();
	expect(guild.channels.get(id)?.type).toBe(ChannelType.GuildAnnouncement);
});

test("of the other features only three can be changed", async (given) => {
	const { guild, path, alpha, world } = given;
	const change = (...features: string[]) => alpha("PATCH", path, { features });
	expect((await change("INVITES_DISABLED")).code).toBe(50001);
	expect((await change("DISCOVERABLE")).code).toBe(50013);
	expect((await change("RAID_ALERTS_DISABLED")).status).toBe(200);
	expect(guild.features).toEqual(["RAID_ALERTS_DISABLED"]);
	world.guilds.edit(guild, { features: ["COMMUNITY", "ROLE_ICONS"] });
	await change("COMMUNITY", "INVITES_DISABLED", "BANNER");
	expect(guild.features).toEqual(["COMMUNITY", "ROLE_ICONS", "INVITES_DISABLED"]);
	expect((await change()).code).toBe(50013);
	makeAdministrator(given);
	expect((await change("COMMUNITY", "DISCOVERABLE")).code).toBe(40006);
	expect((await change("INVITES_DISABLED")).status).toBe(200);
	expect((await change()).status).toBe(200);
	expect(guild.features).toEqual(["ROLE_ICONS"]);
});

test("a bot's highest role stays above the roles it orders, and @everyone below all", async (given) => {
	const { guild, path, alpha, simulator, role } = given;
	await using bot = await connect(simulator);
	const order = () => [...guild.roles.values()].sort((a, b) => b.position - a.position).map(({ name }) => name);
	const place = (name: string, position: number) => alpha("PATCH", `${path}/roles`, [{ id: role(name).id, position }]);
	for (const position of [4, 5, 99]) expect((await place("Newcomer", position)).code).toBe(50013);
	expect((await place("@everyone", 2)).code).toBe(50028);
	// discord.js lists all roles, with those that stay.
	const found = bot.client.guilds.cache.get(guild.id)?.roles;
	await found?.setPosition(role("Newcomer").id, 3);
	expect(order()).toEqual(["alpha", "Newcomer", "Staff", "Regular", "@everyone"]);
});

test("gradients, role icons and emoji need a feature of the guild", async ({ guild, path, alpha, world, role }) => {
	const regular = role("Regular");
	const change = (body: object) => alpha("PATCH", `${path}/roles/${regular.id}`, body);
	const gradient = { primary_color: 1, secondary_color: 2 };
	const icon = "data:image/png;base64,iVBORw0KGgo=";
	for (const body of [{ colors: gradient }, { unicode_emoji: "👍" }, { icon }]) {
		expect((await change(body)).code).toBe(50101);
		expect((await alpha("POST", `${path}/roles`, body)).code).toBe(50101);
	}
	expect((await change({ icon: null, unicode_emoji: null })).status).toBe(200);

	world.guilds.edit(guild, { features: ["ROLE_ICONS", "ENHANCED_ROLE_COLORS"] });
	expect((await change({ colors: gradient })).json()).toMatchObject({
		color: 1,
		colors: { ...gradient, tertiary_color: null },
	});
	const holographic = { ...gradient, tertiary_color: 3 };
	expect((await change({ colors: holographic })).json()).toMatchObject({
		color: 11127295,
		colors: { secondary_color: 16759788, tertiary_color: 16761760 },
	});
	await change({ color: 7 });
	expect(regular.colors).toEqual({ primary_color: 7, secondary_color: null, tertiary_color: null });
	expect((await change({ unicode_emoji: "x" })).code).toBe(50035);
	await change({ unicode_emoji: "👍", hoist: true, mentionable: false });
	expect(regular).toMatchObject({ unicode_emoji: "👍", hoist: true, mentionable: false });
	expect((await change({ icon })).json()).toMatchObject({ icon: regular.icon });
	expect(regular.icon).toMatch(/^[0-9a-f]{32}$/);
	expect(guild.auditLog.at(-1)?.changes).toEqual([{ key: "icon_hash", new_value: regular.icon }]);
});

test("a deleted role is gone from members and overwrites", async (given) => {
	const { guild, path, alpha, role, channelNamed, world } = given;
	const { id } = role("Regular");
	const channel = channelNamed("general");
	world.channels.edit(channel, { permission_overwrites: [{ id, type: 0, allow: "1024", deny: "0" }] });
	expect((await alpha("DELETE", `${path}/roles/${id}`)).status).toBe(204);
	expect(guild.roles.has(id)).toBe(false);
	expect(channel.permission_overwrites).toEqual([]);
	for (const { roles } of guild.members.values()) expect(roles).not.toContain(id);
});
