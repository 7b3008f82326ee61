// Invites: who may make, see and delete them, and when they are no longer good.

import { expect, test } from "bun:test";
import {
	AuditLogEvent,
	ChannelType,
	GatewayIntentBits,
	PermissionFlagsBits,
	TextChannel,
} from "discord.js";
import {
	as,
	connect,
	cooksOf,
	type Simulator,
	startSimulator,
	usualIntents,
} from "../../support.ts";

const intents = [...usualIntents, GatewayIntentBits.GuildInvites];

function cooks(simulator: Simulator) {
	const cooks = cooksOf(simulator);
	return { ...cooks, all: `/channels/${cooks.channel.id}/invites` };
}

function deny(simulator: Simulator, channelId: string, bits: bigint) {
	const channel = simulator.guild("The Cooks").channels.get(channelId);
	if (!channel) throw new Error("there is such a channel");
	simulator.world.channels.setOverwrite(channel, {
		id: simulator.bot("alpha").id,
		type: 1,
		allow: "0",
		deny: String(bits),
	});
}

test("discord.js makes, lists, shows and deletes an invite, and both are told and logged", async () => {
	await using simulator = await startSimulator();
	await using bot = await connect(simulator, "alpha", intents);
	const { guild, channel } = cooks(simulator);
	const found = await bot.client.channels.fetch(channel.id);
	if (!(found instanceof TextChannel)) throw new Error("it is a text channel");
	const made = await found.createInvite({
		maxAge: 600,
		maxUses: 5,
		temporary: true,
		reason: "party",
	});
	expect(await bot.event("INVITE_CREATE")).toMatchObject({
		code: made.code,
		guild_id: guild.id,
		channel_id: channel.id,
		max_age: 600,
		max_uses: 5,
		temporary: true,
		uses: 0,
		inviter: { username: "alpha" },
	});
	expect([...(await found.fetchInvites()).keys()]).toEqual([made.code]);
	const cached = bot.client.guilds.cache.get(guild.id);
	expect([...((await cached?.invites.fetch())?.keys() ?? [])]).toEqual([
		made.code,
	]);
	const shown = await bot.client.fetchInvite(made.code);
	expect([shown.guild?.id, shown.channel?.id, shown.memberCount]).toEqual([
		guild.id,
		channel.id,
		guild.members.size,
	]);
	expect(shown.expiresTimestamp).toBe(Number(made.createdTimestamp) + 600_000);
	await made.delete("over");
	expect(await bot.event("INVITE_DELETE")).toMatchObject({
		code: made.code,
		guild_id: guild.id,
		channel_id: channel.id,
	});
	expect(guild.auditLog.slice(-2)).toMatchObject([
		{
			action_type: AuditLogEvent.InviteCreate,
			target_id: null,
			reason: "party",
		},
		{ action_type: AuditLogEvent.InviteDelete, reason: "over" },
	]);
	expect(guild.auditLog.at(-2)?.changes).toContainEqual({
		key: "code",
		new_value: made.code,
	});
});

test("an invite is no longer good after its time, its last use, and its channel", async () => {
	await using simulator = await startSimulator();
	const { guild, channel, ada, alpha } = cooks(simulator);
	const { world } = simulator;
	const { invites } = world;
	const ago = (seconds: number) =>
		new Date(Date.now() - seconds * 1000).toISOString();
	const aged = (max_age: number, seconds: number) =>
		invites.add(channel, { inviter: ada, max_age, created_at: ago(seconds) });
	const over = aged(600, 601);
	const good = aged(600, 500);
	const endless = aged(0, 10_000_000);
	const once = invites.add(channel, { inviter: ada, max_uses: 2 });
	invites.use(once);
	const codes = () =>
		invites.list({ guild_id: guild.id }).map(({ code }) => code);
	expect(codes()).toEqual([good.code, endless.code, once.code]);
	expect((await alpha("GET", `/invites/${over.code}`)).code).toBe(10006);
	expect((await alpha("DELETE", `/invites/${over.code}`)).code).toBe(10006);
	const never = await alpha("GET", `/invites/${endless.code}`);
	expect(never.json().expires_at).toBeNull();
	invites.use(once);
	expect(codes()).toEqual([good.code, endless.code]);
	world.channels.remove(channel);
	expect(codes()).toEqual([]);
});

test("an invite like one's own is used again unless a unique one is asked for", async () => {
	await using simulator = await startSimulator();
	const { alpha, all } = cooks(simulator);
	const make = async (body: object) =>
		(await alpha("POST", all, body)).json().code;
	const first = await make({});
	expect(await make({ max_age: 86_400, max_uses: 0 })).toBe(first);
	expect(await make({ max_age: 0 })).not.toBe(first);
	expect(await make({ unique: true })).not.toBe(first);
	expect(simulator.journal.entries()).toHaveLength(3);
	for (const body of [{ max_age: 604_801 }, { max_uses: 101 }])
		expect((await alpha("POST", all, body)).code).toBe(50035);
});

test("making, listing and deleting take permissions; the code alone shows an invite", async () => {
	await using simulator = await startSimulator();
	const { guild, channel, ada, alpha, all } = cooks(simulator);
	const { world } = simulator;
	const { CreateInstantInvite, ManageChannels, ManageGuild } =
		PermissionFlagsBits;
	for (const role of [...guild.roles.values()].filter(({ tags }) => tags))
		world.roles.edit(guild, role, {
			permissions: String(BigInt(role.permissions) & ~ManageGuild),
		});
	const { code } = world.invites.add(channel, { inviter: ada });
	const zoe = as(simulator, simulator.user("zoe"));
	expect((await zoe("GET", `/guilds/${guild.id}/invites`)).code).toBe(50013);
	const listed = await alpha("GET", `/guilds/${guild.id}/invites`);
	expect(listed.json<object[]>()[0]).not.toHaveProperty("uses");
	const owner = as(simulator, simulator.user("ada"));
	const whole = await owner("GET", `/guilds/${guild.id}/invites`);
	expect(whole.json<object[]>()[0]).toMatchObject({ uses: 0, max_uses: 0 });
	deny(simulator, channel.id, CreateInstantInvite | ManageChannels);
	expect((await alpha("GET", all)).code).toBe(50013);
	expect((await alpha("POST", all, {})).code).toBe(50013);
	expect((await alpha("DELETE", `/invites/${code}`)).code).toBe(50013);
	const stranger = as(simulator, simulator.bot("beta"));
	const shown = await stranger("GET", `/invites/${code}`);
	expect(shown.json()).toMatchObject({ code, guild: { id: guild.id } });
	expect(shown.json()).not.toHaveProperty("uses");
	expect((await owner("DELETE", `/invites/${code}`)).status).toBe(200);
});

test("a guild has at most 1000 invites, and none to a category", async () => {
	await using simulator = await startSimulator();
	const { guild, channel, ada, alpha, all } = cooks(simulator);
	for (let index = 0; index < 1000; index += 1)
		simulator.world.invites.add(channel, { inviter: ada });
	expect((await alpha("POST", all, {})).code).toBe(30016);
	const category = simulator.world.channels.add(guild, {
		name: "talk",
		type: ChannelType.GuildCategory,
	});
	const refused = await alpha("POST", `/channels/${category.id}/invites`, {});
	expect(refused.code).toBe(50024);
});

test("an invite gives roles below the actor's own, with the permission to give them", async () => {
	await using simulator = await startSimulator();
	const { guild, alpha, all } = cooks(simulator);
	const { world } = simulator;
	const [own] = [...guild.roles.values()].filter(({ tags }) => tags);
	if (!own) throw new Error("alpha has a role of its own");
	const cook = world.roles.add(guild, { name: "Cook" });
	const make = (...role_ids: string[]) => alpha("POST", all, { role_ids });
	const made = (await make(cook.id)).json();
	expect(made.roles).toMatchObject([{ id: cook.id, name: "Cook" }]);
	expect((await make(cook.id)).json().code).toBe(made.code);
	expect((await alpha("POST", all, {})).json().roles).toBeUndefined();
	expect((await make(own.id)).code).toBe(50013);
	expect((await make(guild.id)).code).toBe(50013);
	expect((await make("123456789012345678")).code).toBe(10011);
	const { ManageRoles } = PermissionFlagsBits;
	const permissions = String(BigInt(own.permissions) & ~ManageRoles);
	world.roles.edit(guild, own, { permissions });
	expect((await make(cook.id)).code).toBe(50013);
});
