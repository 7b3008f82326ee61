// Welcome screens: permissions, valid values, events and the audit log.

import { expect } from "bun:test";
import { AuditLogEvent, ChannelType } from "discord.js";
import { connect, testWith } from "../../support.ts";

const test = testWith(({ guild, world, channelNamed }) => {
	world.guilds.edit(guild, { features: ["COMMUNITY"] });
	return {
		path: `/guilds/${guild.id}/welcome-screen`,
		general: channelNamed("general").id,
		lounge: channelNamed("Lounge").id,
	};
});

test("discord.js edits and fetches a welcome screen, with an event and an audit log entry", async (given) => {
	const { simulator, guild, user, world, general, alpha, path } = given;
	await using bot = await connect(simulator);
	const found = await bot.client.guilds.fetch(guild.id);
	const soup = world.emojis.add(guild, user("ada"), { name: "soup" });
	const edited = await found.editWelcomeScreen({
		enabled: true,
		description: "Wash your hands",
		welcomeChannels: [
			{ channel: general, description: "Talk", emoji: "🍲" },
			{ channel: general, description: "More" },
		],
	});
	expect(edited.description).toBe("Wash your hands");
	const reason = { "x-audit-log-reason": "a warm welcome" };
	const custom = { channel_id: general, description: "!", emoji_id: soup.id };
	await alpha("PATCH", path, { welcome_channels: [custom] }, reason);
	expect((await alpha("GET", path)).json()).toEqual({
		description: "Wash your hands",
		welcome_channels: [{ ...custom, emoji_name: "soup" }],
	});
	const told = await bot.event("GUILD_UPDATE");
	expect(told.features).toEqual(["COMMUNITY", "WELCOME_SCREEN_ENABLED"]);
	expect(told).not.toHaveProperty("welcomeScreen");
	expect(guild.auditLog).toHaveLength(2);
	expect(guild.auditLog.at(-1)).toMatchObject({
		action_type: AuditLogEvent.GuildUpdate,
		target_id: guild.id,
		reason: "a warm welcome",
		changes: [{ key: "welcome_channels" }],
	});
});

test("a welcome screen is unknown until it is edited, and seen by all while it is enabled and has channels", async (given) => {
	const { path, alpha, as, world, guild, channelNamed, general } = given;
	const zoe = async () => (await as("zoe")("GET", path)).code;
	expect((await alpha("GET", path)).code).toBe(10069);
	expect(await zoe()).toBe(50013);
	const empty = await alpha("PATCH", path, { enabled: true });
	expect(empty.json()).toEqual({ description: null, welcome_channels: [] });
	expect(await zoe()).toBe(50013);
	const welcome_channels = [{ channel_id: general, description: "Talk" }];
	await alpha("PATCH", path, { enabled: true, welcome_channels });
	expect(await zoe()).toBeUndefined();
	await alpha("PATCH", path, { description: "Hello", enabled: null });
	expect(await zoe()).toBeUndefined();
	world.channels.remove(channelNamed("general"));
	expect(await zoe()).toBe(50013);
	expect((await alpha("GET", path)).json()).toEqual({ description: "Hello", welcome_channels: [] });
	await alpha("PATCH", path, { enabled: false, description: null });
	expect(guild.features).toEqual(["COMMUNITY"]);
	expect(guild.welcomeScreen?.description).toBeNull();
});

test("invalid welcome screens are refused, and those without permission or COMMUNITY", async (given) => {
	const { path, alpha, as, world, guild, general, lounge } = given;
	const forum = world.channels.add(guild, { name: "recipes", type: ChannelType.GuildForum });
	const of = (channel_id: string, more: object = {}) => ({
		welcome_channels: [{ channel_id, description: "x", ...more }],
	});
	for (const [body, code, field] of [
		[{ description: "x".repeat(141) }, 50035, "description"],
		[of(general, { description: "" }), 50035, "welcome_channels.0.description"],
		[{ welcome_channels: Array(6).fill(of(general).welcome_channels[0]) }, 50035, "welcome_channels"],
		[of(guild.id), 10003],
		[of(lounge), 50024],
		[of(general, { emoji_id: guild.id }), 10014],
	] as const) {
		const answer = await alpha("PATCH", path, body);
		expect([answer.code, Object.keys(answer.faults)[0]]).toEqual([code, field]);
	}
	expect(guild.welcomeScreen).toBeNull();
	expect((await alpha("PATCH", path, of(forum.id))).status).toBe(200);
	expect((await as("zoe")("PATCH", path, {})).code).toBe(50013);
	world.guilds.edit(guild, { features: [] });
	expect((await alpha("PATCH", path, {})).code).toBe(50001);
});
