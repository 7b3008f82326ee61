// Invites: permissions, and when they end.

import { expect } from "bun:test";
import {
	AuditLogEvent,
	ChannelType,
	GatewayIntentBits,
	GuildFeature,
	MessageType,
	PermissionFlagsBits,
	TextChannel,
} from "discord.js";
import { connect, testWith, usualIntents } from "../../support.ts";

const intents = [...usualIntents, GatewayIntentBits.GuildInvites];

const test = testWith(({ channel }) => ({ all: `/channels/${channel.id}/invites` }));

test("discord.js creates, lists, fetches and deletes an invite, with events and audit log entries", async (given) => {
	const { guild, channel, simulator } = given;
	await using bot = await connect(simulator, "alpha", intents);
	const found = await bot.client.channels.fetch(channel.id);
	if (!(found instanceof TextChannel)) throw new Error("expected a text channel");
	const made = await found.createInvite({ maxAge: 600, maxUses: 5, temporary: true, reason: "party" });
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
	expect([...((await cached?.invites.fetch())?.keys() ?? [])]).toEqual([made.code]);
	const shown = await bot.client.fetchInvite(made.code);
	expect([shown.guild?.id, shown.channel?.id, shown.memberCount]).toEqual([guild.id, channel.id, guild.members.size]);
	expect(shown.expiresTimestamp).toBe(Number(made.createdTimestamp) + 600_000);
	await made.delete("over");
	expect(await bot.event("INVITE_DELETE")).toMatchObject({
		code: made.code,
		guild_id: guild.id,
		channel_id: channel.id,
	});
	expect(guild.auditLog.slice(-2)).toMatchObject([
		{ action_type: AuditLogEvent.InviteCreate, target_id: null, reason: "party" },
		{ action_type: AuditLogEvent.InviteDelete, reason: "over" },
	]);
	expect(guild.auditLog.at(-2)?.changes).toContainEqual({ key: "code", new_value: made.code });
});

test("an invite ends with its time, its last use, and its channel", async (given) => {
	const { guild, channel, ada, alpha, simulator } = given;
	const { world } = simulator;
	const { invites } = world;
	const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();
	const aged = (max_age: number, seconds: number) =>
		invites.add(channel, { inviter: ada, max_age, created_at: ago(seconds) });
	const over = aged(600, 601);
	const good = aged(600, 500);
	const endless = aged(0, 10_000_000);
	const once = invites.add(channel, { inviter: ada, max_uses: 2 });
	invites.use(once);
	const codes = () => invites.list({ guild_id: guild.id }).map(({ code }) => code);
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

test("an identical invite is reused unless it must be unique", async ({ alpha, all, simulator }) => {
	const make = async (body: object) => (await alpha("POST", all, body)).json().code;
	const first = await make({});
	expect(await make({ max_age: 86_400, max_uses: 0 })).toBe(first);
	expect(await make({ max_age: 0 })).not.toBe(first);
	expect(await make({ unique: true })).not.toBe(first);
	expect(await make({ max_age: 5_184_000 })).not.toBe(first);
	expect(simulator.journal.entries()).toHaveLength(4);
	for (const body of [{ max_age: 5_184_001 }, { max_uses: 101 }])
		expect((await alpha("POST", all, body)).code).toBe(50035);
});

test("no invite is created while invites are paused: the response is 204", async ({ alpha, all, simulator, guild }) => {
	const { guilds } = simulator.world;
	const until = new Date(Date.now() + 3_600_000).toISOString();
	const incidents_data = { invites_disabled_until: until, dms_disabled_until: null };
	for (const paused of [{ features: [GuildFeature.InvitesDisabled] }, { features: [], incidents_data }]) {
		guilds.edit(guild, paused);
		expect((await alpha("POST", all, {})).status).toBe(204);
	}
	expect(simulator.journal.entries()).toEqual([]);
	guilds.edit(guild, { incidents_data: null });
	expect((await alpha("POST", all, {})).status).toBe(200);
});

test("creating, listing and deleting invites need permissions; reading one needs its code", async (given) => {
	const { guild, channel, ada, alpha, all, simulator, deny, role, as } = given;
	const { world } = simulator;
	const { CreateInstantInvite, ManageChannels, ManageGuild } = PermissionFlagsBits;
	const own = role("alpha");
	const permissions = String(BigInt(own.permissions) & ~ManageGuild);
	world.roles.edit(guild, own, { permissions });
	const { code } = world.invites.add(channel, { inviter: ada });
	const zoe = as("zoe");
	expect((await zoe("GET", `/guilds/${guild.id}/invites`)).code).toBe(50013);
	const listed = await alpha("GET", `/guilds/${guild.id}/invites`);
	expect(listed.json<object[]>()[0]).not.toHaveProperty("uses");
	const owner = as("ada");
	const whole = await owner("GET", `/guilds/${guild.id}/invites`);
	expect(whole.json<object[]>()[0]).toMatchObject({ uses: 0, max_uses: 0 });
	deny(channel, CreateInstantInvite | ManageChannels);
	expect((await alpha("GET", all)).code).toBe(50013);
	expect((await alpha("POST", all, {})).code).toBe(50013);
	expect((await alpha("DELETE", `/invites/${code}`)).code).toBe(50013);
	const stranger = as("beta");
	const shown = await stranger("GET", `/invites/${code}`);
	expect(shown.json()).toMatchObject({ code, guild: { id: guild.id } });
	expect(shown.json()).not.toHaveProperty("uses");
	expect((await owner("DELETE", `/invites/${code}`)).status).toBe(200);
});

test("a guild has at most 1000 invites, and none to a category", async (given) => {
	const { guild, channel, ada, alpha, all, simulator } = given;
	for (let index = 0; index < 1000; index += 1) simulator.world.invites.add(channel, { inviter: ada });
	expect((await alpha("POST", all, {})).code).toBe(30016);
	const category = simulator.world.channels.add(guild, { name: "talk", type: ChannelType.GuildCategory });
	const refused = await alpha("POST", `/channels/${category.id}/invites`, {});
	expect([refused.status, refused.code]).toEqual([404, 10003]);
});

test("the roles of an invite must be below the actor's own and need MANAGE_ROLES", async (given) => {
	const { guild, alpha, all, simulator, role } = given;
	const { world } = simulator;
	const own = role("alpha");
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

test("a person joins by invite and leaves, with events", async (given) => {
	const { guild, channel, ada, simulator } = given;
	const { world } = simulator;
	world.guilds.edit(guild, { system_channel_id: channel.id });
	await using bot = await connect(simulator, "alpha", intents);
	const bob = simulator.user("bob_the_baker");
	const asBob = given.as("bob_the_baker");
	const { code } = world.invites.add(channel, { inviter: ada, max_uses: 1 });
	expect((await asBob("GET", `/guilds/${guild.id}`)).code).toBe(10004);
	const joined = await asBob("POST", `/invites/${code}`, {});
	expect(joined.json()).toMatchObject({ code, guild: { id: guild.id }, new_member: true });
	expect(await bot.event("GUILD_MEMBER_ADD")).toMatchObject({
		guild_id: guild.id,
		user: { id: bob.id },
		roles: [],
		pending: false,
	});
	expect(await bot.event("MESSAGE_CREATE")).toMatchObject({
		channel_id: channel.id,
		author: { id: bob.id },
		type: MessageType.UserJoin,
	});
	expect(await bot.event("INVITE_DELETE")).toMatchObject({ code });
	expect((await asBob("GET", `/guilds/${guild.id}`)).status).toBe(200);
	// The invite was for one person.
	expect((await given.as("zoe")("POST", `/invites/${code}`, {})).code).toBe(10006);
	const left = await asBob("DELETE", `/users/@me/guilds/${guild.id}`);
	expect(left.status).toBe(204);
	expect(await bot.event("GUILD_MEMBER_REMOVE")).toMatchObject({ guild_id: guild.id, user: { id: bob.id } });
	expect(simulator.journal.entries().map(({ route }) => route)).toEqual([
		"POST /invites/:invite_code",
		"DELETE /users/@me/guilds/:guild_id",
	]);
});

test("joining is refused to bots and banned people, with an expired or unknown code, and while invites are paused", async (given) => {
	const { guild, channel, ada, simulator, as } = given;
	const { world } = simulator;
	const { invites, guilds } = world;
	const asBob = as("bob_the_baker");
	const bob = world.users.get(simulator.user("bob_the_baker").id);
	if (!bob) throw new Error("bob is missing");
	const join = (invite: string) => asBob("POST", `/invites/${invite}`, {});
	const { code } = invites.add(channel, { inviter: ada });
	const before = new Date(Date.now() - 601_000).toISOString();
	const expired = { inviter: ada, max_age: 600, created_at: before };
	expect((await join(invites.add(channel, expired).code)).code).toBe(10006);
	expect((await join("unknown")).code).toBe(10006);
	expect((await as("beta")("POST", `/invites/${code}`, {})).code).toBe(20001);
	world.bans.add(guild, bob, 0);
	expect((await join(code)).code).toBe(40007);
	const ban = guild.bans.get(bob.id);
	if (ban) world.bans.remove(guild, ban);
	guilds.edit(guild, { features: [GuildFeature.InvitesDisabled] });
	expect((await join(code)).code).toBe(40069);
	guilds.edit(guild, { features: [] });
	expect(guild.members.has(bob.id)).toBeFalse();
	expect(invites.get(code)?.uses).toBe(0);
	expect((await join(code)).status).toBe(200);
});

test("new members have the roles of their invite, are pending in a guild with screening, and join once", async (given) => {
	const { guild, channel, ada, simulator, as } = given;
	const { world } = simulator;
	const cook = world.roles.add(guild, { name: "Cook" });
	const gone = world.roles.add(guild, { name: "Gone" });
	const invite = world.invites.add(channel, { inviter: ada, role_ids: [cook.id, gone.id] });
	world.roles.remove(guild, gone);
	world.guilds.edit(guild, { features: [GuildFeature.MemberVerificationGateEnabled] });
	const asBob = as("bob_the_baker");
	const join = async () => (await asBob("POST", `/invites/${invite.code}`, {})).json();
	expect(await join()).toMatchObject({ new_member: true });
	expect(await join()).toMatchObject({ new_member: false });
	expect(invite.uses).toBe(1);
	const { id } = simulator.user("bob_the_baker");
	expect(guild.members.get(id)).toMatchObject({ roles: [cook.id], pending: true });
});
