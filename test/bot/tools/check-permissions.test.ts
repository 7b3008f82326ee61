// check_permissions: the same result as Discord's, with the reasons.

import { expect, test } from "bun:test";
import { PermissionFlagsBits as Bit, ChannelType } from "discord.js";
import { bitsByName } from "../../../src/bot/discord/permissions.ts";
import type { GuildChannel } from "../../../src/simulator/world/state/entities.ts";
import { channelPermissions } from "../../../src/simulator/world/state/permissions.ts";
import { seeded } from "../../support/random.ts";
import { startWorld, type TestWorld } from "../../support/world.ts";

const bitsIn = (text: string) =>
	/allowed permissions as bits: (\d+)/.exec(text)?.[1];

/** A new member with new roles, and a new channel. */
function newcomer(
	{ simulator, guild }: TestWorld,
	roles: Record<string, bigint> = {},
	type: GuildChannel["type"] = ChannelType.GuildText,
) {
	const { world } = simulator;
	const made = Object.entries(roles).map(([name, bits]) =>
		world.roles.add(guild, { name, permissions: String(bits) }),
	);
	const { user } = world.members.add(
		guild,
		world.users.add({ username: "newcomer" }),
		{ roles: made.map(({ id }) => id) },
	);
	const channel = world.channels.add(guild, { name: "kitchen", type });
	const set = (id: string, allow: bigint, deny: bigint) =>
		world.channels.setOverwrite(channel, {
			...{ id, type: id === user.id ? 1 : 0 },
			...{ allow: String(allow), deny: String(deny) },
		});
	return { user, channel, roles: made, set };
}

test("the result equals what Discord computes for random roles and overwrites", async () => {
	await using world = await startWorld();
	const { simulator, guild } = world;
	const { chance } = seeded(20_260_131);
	const all = [...bitsByName.values()].filter(
		(bit) => bit !== Bit.Administrator,
	);
	const some = (share: number) =>
		all.reduce((bits, bit) => (chance(share) ? bits | bit : bits), 0n);
	const cases = Array.from({ length: 40 }, (_, index) => {
		const type = chance(0.3) ? ChannelType.GuildVoice : ChannelType.GuildText;
		const roles = { a: some(0.3), b: some(0.1) };
		const made = newcomer(world, roles, type);
		const overwritten = [guild.id, ...made.roles.map(({ id }) => id)];
		for (const id of [...overwritten, made.user.id])
			if (chance(0.7)) {
				const deny = some(0.2);
				made.set(id, some(0.2) & ~deny, deny);
			}
		const member = guild.members.get(made.user.id);
		if (member && index % 5 === 0)
			simulator.world.members.edit(guild, member, {
				communication_disabled_until: new Date(
					Date.now() + 3_600_000,
				).toISOString(),
			});
		return made;
	});
	await world.heard();
	for (const { user, channel } of cases) {
		const { text } = await world.call("check_permissions", {
			user_id: user.id,
			channel_id: channel.id,
		});
		expect(bitsIn(text)).toBe(
			String(channelPermissions(guild, channel, user.id)),
		);
	}
});

test("each deciding step is named: roles, overwrites of @everyone, roles and the member, implications", async () => {
	await using world = await startWorld();
	const { guild } = world;
	const { user, channel, roles, set } = newcomer(world, {
		"Cook | x": Bit.KickMembers | Bit.ManageMessages | Bit.ManageThreads,
		Waiter: Bit.KickMembers,
	});
	const [cook, waiter] = roles.map(({ id }) => id);
	set(guild.id, Bit.BanMembers, Bit.SendMessages | Bit.AddReactions);
	set(cook ?? "", Bit.AddReactions, Bit.ManageThreads | Bit.PinMessages);
	set(waiter ?? "", Bit.PinMessages, Bit.AddReactions);
	set(user.id, Bit.ManageWebhooks, Bit.ManageMessages);
	await world.heard();
	const { text } = await world.call("check_permissions", {
		user_id: user.id,
		channel_id: channel.id,
	});
	const lines = new Map(
		text.split("\n").map((line) => line.split(" | ", 1).concat(line)) as [
			string,
			string,
		][],
	);
	const why = (name: string) => lines.get(name)?.slice(name.length + 3);
	const here = `in #kitchen (ID: ${channel.id})`;
	const [a, b] = [`@Cook \\| x (ID: ${cook})`, `@Waiter (ID: ${waiter})`];
	const all = `@everyone (ID: ${guild.id})`;
	expect(why("VIEW_CHANNEL")).toBe(`allowed by ${all}`);
	expect(why("KICK_MEMBERS")).toContain(a);
	expect(why("KICK_MEMBERS")).toContain(b);
	expect(why("BAN_MEMBERS")).toBe(
		`allowed by the permissions of ${all} ${here}`,
	);
	expect(why("SEND_MESSAGES")).toBe(
		`denied by the permissions of ${all} ${here}`,
	);
	expect(why("ADD_REACTIONS")).toBe(
		`allowed by the permissions of ${a} ${here}`,
	);
	expect(why("PIN_MESSAGES")).toBe(
		`allowed by the permissions of ${b} ${here}`,
	);
	expect(why("MANAGE_THREADS")).toBe(
		`denied by the permissions of ${a} ${here}`,
	);
	expect(why("MANAGE_MESSAGES")).toBe(
		`denied by the permissions of the member (ID: ${user.id}) ${here}`,
	);
	expect(why("MANAGE_WEBHOOKS")).toStartWith(
		"allowed by the permissions of the member",
	);
	expect(why("EMBED_LINKS")).toBe(
		"denied because it has no effect without SEND_MESSAGES",
	);
	expect(why("MANAGE_GUILD")).toBeUndefined();
});

test("the owner and administrators are allowed everything, with the reason", async () => {
	await using world = await startWorld();
	const { simulator, guild } = world;
	const { user, channel, roles, set } = newcomer(world, {
		Boss: Bit.Administrator,
	});
	set(user.id, 0n, Bit.ViewChannel);
	await world.heard();
	const channel_id = channel.id;
	const ask = async (args: Record<string, unknown>) =>
		(await world.call("check_permissions", { channel_id, ...args })).text;
	const boss = await ask({ user_id: user.id });
	expect(boss).toContain(
		`everything is allowed by ADMINISTRATOR, which bypasses channel permissions and timeouts, by @Boss (ID: ${roles[0]?.id})`,
	);
	expect(boss.split("\n")).toHaveLength(2);
	const one = await ask({ user_id: user.id, permissions: ["VIEW_CHANNEL"] });
	expect(one).toContain("VIEW_CHANNEL | allowed by ADMINISTRATOR");
	expect(await ask({ role_id: roles[0]?.id })).toContain("by @Boss");
	expect(await ask({ user_id: guild.owner_id })).toContain(
		"everything is allowed as the owner of the guild",
	);
	expect(guild.owner_id).toBe(simulator.user("ada").id);
});

test("a timed out member may only read, and the result says until when", async () => {
	await using world = await startWorld();
	const { simulator, guild } = world;
	const { user, channel } = newcomer(world);
	const member = guild.members.get(user.id);
	if (!member) throw new Error("they have just joined");
	const until = new Date(Date.now() + 3_600_000).toISOString();
	simulator.world.members.edit(guild, member, {
		communication_disabled_until: until,
	});
	await world.heard();
	const { text } = await world.call("check_permissions", {
		user_id: user.id,
		channel_id: channel.id,
		permissions: ["SEND_MESSAGES", "VIEW_CHANNEL", "MANAGE_GUILD"],
	});
	const till = until.replace(/\.\d+/, "");
	expect(text).toContain(`SEND_MESSAGES | denied by a timeout until ${till}`);
	expect(text).toContain("VIEW_CHANNEL | allowed by @everyone");
	expect(text).toContain("MANAGE_GUILD | denied because no role grants it");
});

test("a role is combined with @everyone alone, in the guild and in a channel", async () => {
	await using world = await startWorld();
	const { guild } = world;
	const { user, channel, roles, set } = newcomer(world, {
		Cook: Bit.ManageWebhooks,
		Waiter: Bit.KickMembers,
	});
	const [cook, waiter] = roles.map(({ id }) => id);
	set(waiter ?? "", Bit.ManageChannels, 0n);
	set(user.id, Bit.ManageGuild, 0n);
	set(guild.id, Bit.BanMembers, 0n);
	await world.heard();
	const everyone = BigInt(guild.roles.get(guild.id)?.permissions ?? 0);
	const bits = async (args: Record<string, unknown>) =>
		bitsIn((await world.call("check_permissions", args)).text);
	expect(await bits({ role_id: cook })).toBe(
		String(everyone | Bit.ManageWebhooks),
	);
	expect(await bits({ role_id: guild.id })).toBe(String(everyone));
	expect(await bits({ role_id: cook, channel_id: channel.id })).toBe(
		String(everyone | Bit.ManageWebhooks | Bit.BanMembers),
	);
	expect(await bits({ user_id: user.id })).toBe(
		String(everyone | Bit.ManageWebhooks | Bit.KickMembers),
	);
});

test("a thread has its channel's permissions, with another one for writing", async () => {
	await using world = await startWorld();
	const { simulator, guild } = world;
	const { user, channel, set } = newcomer(world);
	const { id } = simulator.world.threads.add(channel, user, { name: "soup" });
	set(guild.id, 0n, Bit.SendMessages);
	const ask = async () =>
		(
			await world.call("check_permissions", {
				...{ user_id: user.id, channel_id: id },
				permissions: ["EMBED_LINKS"],
			})
		).text;
	await world.heard();
	expect(await ask()).toContain("EMBED_LINKS | allowed by @everyone");
	set(guild.id, 0n, Bit.SendMessagesInThreads);
	await world.heard();
	const text = await ask();
	expect(text).toContain(
		"EMBED_LINKS | denied because it has no effect without SEND_MESSAGES_IN_THREADS",
	);
	expect(text).toContain(`in #soup (ID: ${id})`);
	expect(text).toContain("A thread has the permissions of its channel");
});

test("no target, two targets and unknown permissions are refused", async () => {
	await using world = await startWorld();
	const user_id = world.simulator.user("zoe").id;
	const cases: [Record<string, unknown>, string][] = [
		[{}, "user_id, role_id: expected exactly one of these"],
		[{ user_id, role_id: world.guild.id }, "expected exactly one of these"],
		[
			{ user_id, permissions: ["FLY"] },
			'permissions: Discord has no permission "FLY"',
		],
	];
	for (const [args, expected] of cases) {
		const { code, text } = await world.call("check_permissions", args);
		expect(code).toBe(-32602);
		expect(text).toContain(expected);
	}
});
