// What the simulator answers where a guild has nothing of a kind, and the rest of what libraries read of guilds and users.

import { expect } from "bun:test";
import { AuditLogEvent, Routes } from "discord.js";
import { connect, testWith } from "../../support.ts";

const test = testWith(({ guild }) => ({ path: `/guilds/${guild.id}` }));

const someId = "100000000000000000";

test("what no guild has is answered as none", async ({ alpha, as, path }) => {
	const codes = async (...paths: string[]) => {
		const answers = await Promise.all(paths.map((one) => alpha("GET", one)));
		return answers.map(({ status, code }) => [status, code]);
	};
	expect((await alpha("GET", `${path}/stickers`)).json<[]>()).toEqual([]);
	expect((await alpha("GET", `${path}/templates`)).json<[]>()).toEqual([]);
	expect((await alpha("GET", `${path}/vanity-url`)).json()).toEqual({ code: null, uses: 0 });
	expect(await codes(`${path}/stickers/${someId}`, `/stickers/${someId}`, "/guilds/templates/soup")).toEqual([
		[404, 10060],
		[404, 10060],
		[404, 10057],
	]);
	const zoe = as("zoe");
	for (const managed of ["templates", "vanity-url", "integrations", "widget"])
		expect((await zoe("GET", `${path}/${managed}`)).code).toBe(50013);
	// Discord has sticker packs, and a bot could make a sticker: neither is simulated.
	expect(await codes("/sticker-packs")).toEqual([[501, 0]]);
	expect((await alpha("POST", `${path}/stickers`, {})).status).toBe(501);
});

test("discord.js reads regions, the preview and the integrations of a guild", async ({ guild, simulator, user }) => {
	await using bot = await connect(simulator);
	const { client } = bot;
	const regions = await client.fetchVoiceRegions();
	expect(regions.get("rotterdam")?.optimal).toBe(true);
	expect(await client.rest.get(`/guilds/${guild.id}/regions`)).toHaveLength(regions.size);
	const preview = await client.fetchGuildPreview(guild.id);
	expect(preview).toMatchObject({ name: "The Cooks", approximateMemberCount: guild.members.size });
	const found = await client.guilds.fetch(guild.id);
	const integrations = await found.fetchIntegrations();
	expect(integrations.map(({ name, application }) => [name, application?.bot?.id])).toEqual([
		["alpha", user("alpha").id],
	]);
});

test("discord.js sets the widget, its user name and its nickname, with events", async (given) => {
	const { guild, simulator, channel, alpha, path, user } = given;
	await using bot = await connect(simulator);
	const found = await bot.client.guilds.fetch(guild.id);
	expect(await found.fetchWidgetSettings()).toMatchObject({ enabled: false });
	await found.setWidgetSettings({ enabled: true, channel: channel.id });
	await bot.event("GUILD_UPDATE", (data) => data.widget_enabled === true);
	expect((await found.fetchWidgetSettings()).channel?.id).toBe(channel.id);
	expect(guild.auditLog.at(-1)).toMatchObject({
		action_type: AuditLogEvent.GuildUpdate,
		changes: [
			{ key: "widget_enabled", old_value: false, new_value: true },
			{ key: "widget_channel_id", new_value: channel.id },
		],
	});
	const unknown = await alpha("PATCH", `${path}/widget`, { channel_id: someId });
	expect(unknown.code).toBe(10003);

	const me = user("alpha");
	await bot.client.user.setUsername("Chef");
	const pixel = Buffer.from("iVBORw0KGgo=", "base64");
	const { avatar } = await bot.client.user.setAvatar(pixel);
	expect(me).toMatchObject({ username: "Chef", avatar });
	expect(avatar).toMatch(/^[\da-f]{32}$/);
	await bot.event("USER_UPDATE", (data) => data.username === "Chef");
	await bot.event("GUILD_MEMBER_UPDATE", (data) => {
		const { username } = data.user as { username: string };
		return username === "Chef";
	});
	const nick = await alpha("PATCH", `${path}/members/@me/nick`, { nick: "C" });
	expect(nick.json()).toEqual({ nick: "C" });
	expect(guild.members.get(me.id)?.nick).toBe("C");
});

test("the members of each role are counted", async ({ guild, alpha, role, world }) => {
	const empty = world.roles.add(guild, { name: "Nobody" });
	const { status, json } = await alpha("GET", `${Routes.guildRoles(guild.id)}/member-counts`);
	expect(status).toBe(200);
	const counts = json<Record<string, number>>();
	const regular = role("Regular").id;
	const held = [...guild.members.values()].filter(({ roles }) => roles.includes(regular));
	expect(counts).toMatchObject({ [regular]: held.length, [empty.id]: 0 });
	expect(counts).not.toHaveProperty(guild.id);
});
