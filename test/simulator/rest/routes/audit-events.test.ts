// What people do by hand arrives at bots as GUILD_AUDIT_LOG_ENTRY_CREATE: with the person, the target, the reason, the changes.

import { expect } from "bun:test";
import { AuditLogEvent, GatewayIntentBits as Intent, PermissionFlagsBits as Permission, Routes } from "discord.js";
import type { GuildChannel } from "../../../../src/simulator/world/state/entities.ts";
import { connect, testWith } from "../../support.ts";

const reason = { "x-audit-log-reason": encodeURIComponent("spam · 3×") };
const until = "2999-01-01T00:00:00.000Z";

const test = testWith(async ({ simulator, guild, as }) => {
	const ada = as("ada");
	return { person: ada, path: `/guilds/${guild.id}`, bot: await connect(simulator), adaId: simulator.user("ada").id };
});

type Given = Parameters<Parameters<typeof test>[1]>[0];

/** Actions by hand: their requests, and the entries that arrive. */
const actions: readonly [name: string, act: (given: Given) => Promise<unknown>, entry: (given: Given) => object][] = [
	[
		"a ban",
		({ person, path, user }) => person("PUT", `${path}/bans/${user("zoe").id}`, {}, reason),
		({ user }) => ({ action_type: AuditLogEvent.MemberBanAdd, target_id: user("zoe").id, reason: "spam · 3×" }),
	],
	[
		"an unban",
		({ person, path, user, world, guild }) => {
			world.bans.add(guild, user("zoe"));
			const ban = `${path}/bans/${user("zoe").id}`;
			return person("DELETE", ban, undefined, reason);
		},
		({ user }) => ({ action_type: AuditLogEvent.MemberBanRemove, target_id: user("zoe").id, reason: "spam · 3×" }),
	],
	[
		"a kick",
		({ person, path, user }) => person("DELETE", `${path}/members/${user("zoe").id}`, undefined, reason),
		({ user }) => ({ action_type: AuditLogEvent.MemberKick, target_id: user("zoe").id, reason: "spam · 3×" }),
	],
	[
		"a timeout",
		({ person, path, user }) =>
			person("PATCH", `${path}/members/${user("zoe").id}`, { communication_disabled_until: soon() }, reason),
		({ user, member }) => ({
			action_type: AuditLogEvent.MemberUpdate,
			target_id: user("zoe").id,
			reason: "spam · 3×",
			changes: [{ key: "communication_disabled_until", new_value: member("zoe").communication_disabled_until }],
		}),
	],
	[
		"the end of a timeout",
		({ person, path, user, world, guild, member }) => {
			world.members.edit(guild, member("zoe"), { communication_disabled_until: until });
			return person("PATCH", `${path}/members/${user("zoe").id}`, { communication_disabled_until: null });
		},
		({ user }) => ({
			action_type: AuditLogEvent.MemberUpdate,
			target_id: user("zoe").id,
			changes: [{ key: "communication_disabled_until", old_value: until }],
		}),
	],
	[
		"a nickname",
		({ person, path, user }) => person("PATCH", `${path}/members/${user("zoe").id}`, { nick: "Zo" }),
		({ user }) => ({
			action_type: AuditLogEvent.MemberUpdate,
			target_id: user("zoe").id,
			changes: [{ key: "nick", new_value: "Zo" }],
		}),
	],
	[
		"a role",
		({ person, path, user, role }) => person("PUT", `${path}/members/${user("zoe").id}/roles/${role("Regular").id}`),
		({ user, role }) => ({
			action_type: AuditLogEvent.MemberRoleUpdate,
			target_id: user("zoe").id,
			changes: [{ key: "$add", new_value: [{ id: role("Regular").id, name: "Regular" }] }],
		}),
	],
	[
		"slow mode",
		({ person, channel }) => person("PATCH", `/channels/${channel.id}`, { rate_limit_per_user: 30 }),
		({ channel }) => ({
			action_type: AuditLogEvent.ChannelUpdate,
			target_id: channel.id,
			changes: [{ key: "rate_limit_per_user", old_value: 0, new_value: 30 }],
		}),
	],
	[
		"a lock",
		({ person, channel, guild }) =>
			person("PUT", `/channels/${channel.id}/permissions/${guild.id}`, {
				type: 0,
				deny: String(Permission.SendMessages),
				allow: "0",
			}),
		({ channel, guild }) => ({
			action_type: AuditLogEvent.ChannelOverwriteCreate,
			target_id: channel.id,
			options: { id: guild.id, type: "0", role_name: "@everyone" },
		}),
	],
	[
		"a move in voice",
		({ person, path, user, world, member, guild }) => {
			const [first, second] = voiceChannels(guild.channels, world);
			world.voice.join(first, member("zoe"));
			return person("PATCH", `${path}/members/${user("zoe").id}`, { channel_id: second.id });
		},
		({ guild, world }) => ({
			action_type: AuditLogEvent.MemberMove,
			target_id: null,
			options: { channel_id: voiceChannels(guild.channels, world)[1].id, count: "1" },
		}),
	],
	[
		"a disconnect from voice",
		({ person, path, user, world, member, guild }) => {
			world.voice.join(voiceChannels(guild.channels, world)[0], member("zoe"));
			return person("PATCH", `${path}/members/${user("zoe").id}`, { channel_id: null });
		},
		() => ({ action_type: AuditLogEvent.MemberDisconnect, target_id: null, options: { count: "1" } }),
	],
	[
		"a deleted message",
		({ person, world, channel, user }) => {
			const { id } = world.messages.add(channel, user("zoe"), { content: "spam" });
			return person("DELETE", Routes.channelMessage(channel.id, id));
		},
		({ channel, user }) => ({
			action_type: AuditLogEvent.MessageDelete,
			target_id: user("zoe").id,
			options: { channel_id: channel.id, count: "1" },
		}),
	],
	[
		"a verification level",
		({ person, path }) =>
			person("PUT", `${path}/incident-actions`, { invites_disabled_until: soon() }).then(() =>
				person("PATCH", path, { verification_level: 3 }, reason),
			),
		({ guild }) => ({
			action_type: AuditLogEvent.GuildUpdate,
			target_id: guild.id,
			reason: "spam · 3×",
			changes: [{ key: "verification_level", old_value: 0, new_value: 3 }],
		}),
	],
];

/** A time within the 28 days of a timeout. */
function soon(): string {
	const hourMs = 60 * 60 * 1000;
	return new Date(performance.timeOrigin + performance.now() + hourMs).toISOString();
}

/** Two voice channels, the second made here if there is only one. */
function voiceChannels(
	channels: ReadonlyMap<string, GuildChannel>,
	world: Given["world"],
): [GuildChannel, GuildChannel] {
	const voice = [...channels.values()].filter(({ type }) => type === 2);
	const [first, second] = voice;
	if (!first) throw new Error("the demo's seed has a voice channel");
	const guild = world.guilds.of(first);
	return [first, second ?? world.channels.add(guild, { name: "second", type: 2 })];
}

for (const [name, act, entry] of actions)
	test(`${name} by hand is an event with the person, target, reason and changes`, async (given) => {
		await using bot = given.bot;
		const response = await act(given);
		const { status } = response as { status: number };
		expect([200, 204]).toContain(status);
		const expected = entry(given) as { action_type: number };
		const event = await bot.event(
			"GUILD_AUDIT_LOG_ENTRY_CREATE",
			({ action_type }) => action_type === expected.action_type,
		);
		expect(event).toMatchObject({ guild_id: given.guild.id, user_id: given.adaId, ...expected });
	});

test("only bots with the permission and the intent receive the event", async (given) => {
	const { bot, simulator, world, guild, person, path, user } = given;
	await using _ = bot;
	const { Guilds, GuildMessages } = Intent;
	await using without = await connect(simulator, "alpha", [Guilds, GuildMessages]);
	const nick = (text: string) => person("PATCH", `${path}/members/${user("zoe").id}`, { nick: text });
	const entries = () => bot.events.filter(({ t }) => t === "GUILD_AUDIT_LOG_ENTRY_CREATE");
	await nick("One");
	await bot.event("GUILD_AUDIT_LOG_ENTRY_CREATE");
	for (const role of guild.roles.values()) {
		const bits = BigInt(role.permissions) & ~Permission.ViewAuditLog;
		world.roles.edit(guild, role, { permissions: String(bits) });
	}
	await nick("Two");
	const said = (seen: typeof bot) => seen.event("MESSAGE_CREATE");
	await simulator.user("zoe").say("The Cooks/general", "after");
	await Promise.all([said(bot), said(without)]);
	expect(entries()).toHaveLength(1);
	const types = without.events.map(({ t }) => t);
	expect(types).not.toContain("GUILD_AUDIT_LOG_ENTRY_CREATE");
});

test("deleted messages of an author in a channel are counted in one entry, with one event", async (given) => {
	const { bot, person, world, guild, channel, channelNamed, user } = given;
	await using _ = bot;
	const remove = async (where: GuildChannel, author: string) => {
		const { id } = world.messages.add(where, user(author), { content: "x" });
		return person("DELETE", Routes.channelMessage(where.id, id));
	};
	for (let number = 0; number < 3; number += 1) await remove(channel, "zoe");
	await remove(channel, "mona_lisa");
	await remove(channelNamed("staff"), "zoe");
	await remove(channel, "zoe");
	await remove(channel, "ada");
	expect(guild.auditLog.map(({ options }) => options?.count)).toEqual(["4", "1", "1"]);
	await person("PATCH", `/guilds/${guild.id}`, { name: "End" });
	const { GuildUpdate } = AuditLogEvent;
	await bot.event("GUILD_AUDIT_LOG_ENTRY_CREATE", ({ action_type }) => action_type === GuildUpdate);
	const events = bot.events.filter(({ t }) => t === "GUILD_AUDIT_LOG_ENTRY_CREATE");
	expect(events.map(({ d }) => d.options)).toEqual([
		{ channel_id: channel.id, count: "1" },
		{ channel_id: channel.id, count: "1" },
		{ channel_id: channelNamed("staff").id, count: "1" },
		undefined,
	]);
});

test("a message that a bot deletes is not in the audit log, but many at once are", async (given) => {
	const { bot, alpha, world, guild, channel, user } = given;
	await using _ = bot;
	const add = () => world.messages.add(channel, user("zoe"), { content: "x" }).id;
	await alpha("DELETE", Routes.channelMessage(channel.id, add()));
	expect(guild.auditLog).toEqual([]);
	const messages = [add(), add()];
	await alpha("POST", Routes.channelBulkDelete(channel.id), { messages });
	expect(guild.auditLog).toMatchObject([
		{ action_type: AuditLogEvent.MessageBulkDelete, target_id: channel.id, options: { count: "2" } },
	]);
});
