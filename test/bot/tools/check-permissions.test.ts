// check_permissions: the same result as Discord's, with the reasons.

import { describe, expect } from "bun:test";
import { PermissionFlagsBits as Bit, ChannelType } from "discord.js";
import { bitsByName } from "../../../src/discord/permissions.ts";
import type { GuildChannel } from "../../../src/simulator/world/state/entities.ts";
import { channelPermissions } from "../../../src/simulator/world/state/permissions.ts";
import { seeded } from "../../support/random.ts";
import { memberNamed, roleNamed, roleOverwrite, type TestWorld, worldTest } from "../../support/world.ts";

const bitsIn = (text: string) => /allowed permissions as bits: (\d+)/.exec(text)?.[1];

/** Lets the bot see all channels. */
function showAll(world: TestWorld): void {
	const role = roleNamed(world, "alpha");
	const permissions = String(Bit.Administrator);
	world.simulator.world.roles.edit(world.guild, role, { permissions });
}

/** A new member with new roles, and a new channel. */
function newcomer(
	{ simulator, guild }: TestWorld,
	roles: Record<string, bigint> = {},
	type: GuildChannel["type"] = ChannelType.GuildText,
) {
	const { world } = simulator;
	const made = Object.entries(roles).map(([name, bits]) => world.roles.add(guild, { name, permissions: String(bits) }));
	const { user } = world.members.add(guild, world.users.add({ username: "newcomer" }), {
		roles: made.map(({ id }) => id),
	});
	const channel = world.channels.add(guild, { name: "kitchen", type });
	const set = (id: string, allow: bigint, deny: bigint) =>
		world.channels.setOverwrite(channel, {
			id,
			type: id === user.id ? 1 : 0,
			allow: String(allow),
			deny: String(deny),
		});
	return { user, channel, roles: made, set };
}

worldTest("the result equals what Discord computes for random roles and overwrites", async (world) => {
	showAll(world);
	const { simulator, guild } = world;
	const { chance } = seeded(20_260_131);
	const all = [...bitsByName.values()].filter((bit) => bit !== Bit.Administrator);
	const some = (share: number) => all.reduce((bits, bit) => (chance(share) ? bits | bit : bits), 0n);
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
				communication_disabled_until: new Date(Date.now() + 3_600_000).toISOString(),
			});
		return made;
	});
	await world.heard();
	for (const { user, channel } of cases) {
		const { text } = await world.call("check_permissions", { user_ids: [user.id], channel_ids: [channel.id] });
		expect(bitsIn(text)).toBe(String(channelPermissions(guild, channel, user.id)));
	}
});

worldTest(
	"each deciding step is named: roles, overwrites of @everyone, roles and the member, implications",
	async (world) => {
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
		const { text } = await world.call("check_permissions", { user_ids: [user.id], channel_ids: [channel.id] });
		const why = (name: string) =>
			text
				.split("\n")
				.find((line) => line.split(/: |, /).includes(name))
				?.replace(/: [A-Z_, ]+$/, "");
		const here = `in #kitchen (ID: ${channel.id})`;
		const [a, b] = [`@Cook \\| x (ID: ${cook})`, `@Waiter (ID: ${waiter})`];
		const all = `@everyone (ID: ${guild.id})`;
		expect(why("VIEW_CHANNEL")).toBe(`allowed by ${all}`);
		expect(why("KICK_MEMBERS")).toContain(a);
		expect(why("KICK_MEMBERS")).toContain(b);
		expect(why("BAN_MEMBERS")).toBe(`allowed by the permissions of ${all} ${here}`);
		expect(why("SEND_MESSAGES")).toBe(`denied by the permissions of ${all} ${here}`);
		expect(why("ADD_REACTIONS")).toBe(`allowed by the permissions of ${a} ${here}`);
		expect(why("PIN_MESSAGES")).toBe(`allowed by the permissions of ${b} ${here}`);
		expect(why("MANAGE_THREADS")).toBe(`denied by the permissions of ${a} ${here}`);
		expect(why("MANAGE_MESSAGES")).toBe(`denied by the permissions of the member (ID: ${user.id}) ${here}`);
		expect(why("MANAGE_WEBHOOKS")).toStartWith("allowed by the permissions of the member");
		expect(why("EMBED_LINKS")).toBe("denied because it has no effect without SEND_MESSAGES");
		expect(why("MANAGE_GUILD")).toBeUndefined();
	},
);

worldTest("the owner and administrators are allowed everything, with the reason", async (world) => {
	const { simulator, guild } = world;
	const { user, channel, roles, set } = newcomer(world, { Boss: Bit.Administrator });
	set(user.id, 0n, Bit.ViewChannel);
	await world.heard();
	const channel_id = channel.id;
	const ask = async (args: Record<string, unknown>) =>
		(await world.call("check_permissions", { channel_ids: [channel_id], ...args })).text;
	const boss = await ask({ user_ids: [user.id] });
	expect(boss).toContain(
		`everything is allowed by ADMINISTRATOR, which bypasses channel permissions and timeouts, by @Boss (ID: ${roles[0]?.id})`,
	);
	expect(boss.split("\n")).toHaveLength(2);
	const one = await ask({ user_ids: [user.id], permissions: ["VIEW_CHANNEL"] });
	expect(one).toContain("VIEW_CHANNEL | allowed by ADMINISTRATOR");
	expect(await ask({ role_ids: [roles[0]?.id] })).toContain("by @Boss");
	expect(await ask({ user_ids: [guild.owner_id] })).toContain("everything is allowed as the owner of the guild");
	expect(guild.owner_id).toBe(simulator.user("ada").id);
});

worldTest("a timed out member may only read, and the result says until when", async (world) => {
	const { simulator, guild } = world;
	const { user, channel } = newcomer(world);
	const member = guild.members.get(user.id);
	if (!member) throw new Error("they have just joined");
	const until = new Date(Date.now() + 3_600_000).toISOString();
	simulator.world.members.edit(guild, member, { communication_disabled_until: until });
	await world.heard();
	const { text } = await world.call("check_permissions", {
		user_ids: [user.id],
		channel_ids: [channel.id],
		permissions: ["SEND_MESSAGES", "VIEW_CHANNEL", "MANAGE_GUILD"],
	});
	const till = until.replace(/\.\d+/, "");
	expect(text).toContain(`SEND_MESSAGES | denied by a timeout until ${till}`);
	expect(text).toContain("VIEW_CHANNEL | allowed by @everyone");
	expect(text).toContain("MANAGE_GUILD | denied because no role grants it");
	expect(text).toMatch(/^now is \d{4}-/m);
});

worldTest("a role is combined with @everyone alone, in the guild and in a channel", async (world) => {
	const { guild } = world;
	const { user, channel, roles, set } = newcomer(world, { Cook: Bit.ManageWebhooks, Waiter: Bit.KickMembers });
	const [cook, waiter] = roles.map(({ id }) => id);
	set(waiter ?? "", Bit.ManageChannels, 0n);
	set(user.id, Bit.ManageGuild, 0n);
	set(guild.id, Bit.BanMembers, 0n);
	await world.heard();
	const everyone = BigInt(guild.roles.get(guild.id)?.permissions ?? 0);
	const bits = async (args: Record<string, unknown>) => bitsIn((await world.call("check_permissions", args)).text);
	expect(await bits({ role_ids: [cook] })).toBe(String(everyone | Bit.ManageWebhooks));
	expect(await bits({ role_ids: [guild.id] })).toBe(String(everyone));
	expect(await bits({ role_ids: [cook], channel_ids: [channel.id] })).toBe(
		String(everyone | Bit.ManageWebhooks | Bit.BanMembers),
	);
	expect(await bits({ user_ids: [user.id] })).toBe(String(everyone | Bit.ManageWebhooks | Bit.KickMembers));
});

worldTest("a thread has its channel's permissions, with another one for writing", async (world) => {
	const { simulator, guild } = world;
	const { user, channel, set } = newcomer(world);
	const { id } = simulator.world.threads.add(channel, user, { name: "soup" });
	set(guild.id, 0n, Bit.SendMessages);
	const ask = async () =>
		(await world.call("check_permissions", { user_ids: [user.id], channel_ids: [id], permissions: ["EMBED_LINKS"] }))
			.text;
	await world.heard();
	expect(await ask()).toContain("EMBED_LINKS | allowed by @everyone");
	set(guild.id, 0n, Bit.SendMessagesInThreads);
	await world.heard();
	const text = await ask();
	expect(text).toContain("EMBED_LINKS | denied because it has no effect without SEND_MESSAGES_IN_THREADS");
	expect(text).toContain(`in #soup (ID: ${id})`);
	const asked = await world.call("check_permissions", {
		user_ids: [user.id],
		channel_ids: [id],
		permissions: ["SEND_MESSAGES"],
	});
	expect(asked.text).toContain("SEND_MESSAGES_IN_THREADS | denied by ");
	expect(asked.text).not.toContain("SEND_MESSAGES |");
	expect(text).toContain("A thread has the permissions of its channel");
});

worldTest("permissions are named as in Discord's API, in its client, or by bits", async (world) => {
	const role_ids = [world.guild.id];
	const ask = async (...permissions: string[]) => {
		return (await world.call("check_permissions", { role_ids, permissions })).text;
	};
	const expected = await ask("MODERATE_MEMBERS", "VIEW_CHANNEL", "USE_VAD");
	expect(expected).toContain("VIEW_CHANNEL | allowed");
	expect(await ask("Timeout members", "ViewChannel", "use-vad")).toBe(expected);
	const bits = Bit.ModerateMembers | Bit.ViewChannel;
	expect(await ask(String(bits), "Use Voice Activity")).toBe(expected);
});

/** The display name of the member zoe. */
const zoeName = "Zoë 🍞";

/** A guild with a role for each `names`, its permissions, and a member with this role. */
function cast(world: TestWorld, permissions: Record<string, bigint>) {
	const { guild, simulator } = world;
	const made = Object.entries(permissions).map(([name, bits]) => {
		const role = simulator.world.roles.add(guild, { name, permissions: String(bits) });
		const user = simulator.world.users.add({ username: name.toLowerCase() });
		simulator.world.members.add(guild, user, { roles: [role.id] });
		return [name, { role, user }] as const;
	});
	return Object.fromEntries(made);
}

describe("a matrix", () => {
	worldTest("has a line for channels in which all have the same, and joins who has the same", async (world) => {
		showAll(world);
		const { guild, simulator } = world;
		const { world: platform } = simulator;
		const { Cook, Waiter } = cast(world, { Cook: 0n, Waiter: Bit.Administrator });
		if (!Cook || !Waiter) throw new Error("both were added");
		const [kitchen, pantry, hall] = ["kitchen", "pantry", "hall"].map((name) => platform.channels.add(guild, { name }));
		if (!kitchen || !pantry || !hall) throw new Error("three were added");
		for (const channel of [kitchen, pantry]) {
			platform.channels.setOverwrite(channel, { id: guild.id, type: 0, allow: "0", deny: String(Bit.ViewChannel) });
			platform.channels.setOverwrite(channel, { id: Cook.role.id, type: 0, deny: "0", allow: String(Bit.ViewChannel) });
		}
		await world.heard();
		const zoe = simulator.user("zoe").id;
		const { text } = await world.call("check_permissions", {
			user_ids: [zoe, Waiter.user.id],
			role_ids: [guild.id, Cook.role.id],
			channel_ids: [kitchen.id, hall.id, pantry.id],
			permissions: ["view_channel", "SEND_MESSAGES", "MANAGE_CHANNELS"],
		});
		const cook = `@Cook (ID: ${Cook.role.id})`;
		expect(text.split("\n")).toEqual([
			'4 role(s) or member(s) in the guild and 3 channel(s); a role as a member\'s only one. "all" is: guild: MANAGE_CHANNELS | text: MANAGE_CHANNELS, VIEW_CHANNEL, SEND_MESSAGES',
			`Checked: ${zoeName} (@zoe, ID: ${zoe}) | @everyone (ID: ${guild.id}) | ${cook}`,
			`ADMINISTRATOR by @Waiter (ID: ${Waiter.role.id}): @waiter (ID: ${Waiter.user.id})`,
			"the guild | none: @zoe, @everyone, @Cook",
			`#kitchen (ID: ${kitchen.id}), #pantry (ID: ${pantry.id}) | none: @zoe, @everyone | all but MANAGE_CHANNELS: @Cook`,
			`#hall (ID: ${hall.id}) | all but MANAGE_CHANNELS: @zoe, @everyone, @Cook`,
		]);
	});

	worldTest("checks what matters in each kind of channel, in all channels", async (world) => {
		const { text } = await world.call("check_permissions", { role_ids: [world.guild.id], all_channels: true });
		expect(text).toContain(` in the guild and ${world.guild.channels.size} channel(s)`);
		expect(text).toContain("\nthe guild | none: @everyone\n");
		expect(text).toMatch(/"all" is: .*text: VIEW_CHANNEL, SEND_MESSAGES, /);
		expect(text).toContain("voice: VIEW_CHANNEL, CONNECT, SPEAK, ");
		for (const { name, id } of world.guild.channels.values()) expect(text).toContain(`#${name} (ID: ${id})`);
	});

	worldTest("shows kinds of channels, in the guild's order, with the permissions that apply to each", async (world) => {
		const { guild, simulator } = world;
		const add = (name: string, type: GuildChannel["type"]) => simulator.world.channels.add(guild, { name, type });
		const [category, voice, text] = [
			add("Z-cat", ChannelType.GuildCategory),
			add("z-voice", ChannelType.GuildVoice),
			add("z-text", ChannelType.GuildText),
		];
		await world.heard();
		const ask = async (...channels: { id: string }[]) => {
			const { text } = await world.call("check_permissions", {
				role_ids: [guild.id],
				channel_ids: channels.map(({ id }) => id),
				permissions: ["CONNECT", "SEND_MESSAGES"],
			});
			return text.split("\n").slice(1);
		};
		const names = {
			category: `category #Z-cat (ID: ${category.id})`,
			voice: `voice #z-voice (ID: ${voice.id})`,
			text: `#z-text (ID: ${text.id})`,
		};
		expect(await ask(text, voice, category)).toEqual([
			`Checked: @everyone (ID: ${guild.id})`,
			`${names.text} | all: @everyone`,
			`${names.voice} | all: @everyone`,
			`Not applicable in: ${names.category}`,
		]);
		expect((await ask(category)).join()).toContain("SEND_MESSAGES | allowed by ");
		const all = await world.call("check_permissions", { role_ids: [guild.id], all_channels: true });
		expect(all.text).toContain("category: VIEW_CHANNEL, MANAGE_CHANNELS, ");
		expect(all.text.indexOf(names.text)).toBeLessThan(all.text.indexOf(names.voice));
		expect(all.text.indexOf(names.voice)).toBeLessThan(all.text.indexOf(names.category));
		const everywhere = async (...permissions: string[]) =>
			(await world.call("check_permissions", { role_ids: [guild.id], all_channels: true, permissions })).text;
		expect(await everywhere("MANAGE_ROLES", "VIEW_CHANNEL")).toContain("\nthe guild | none: @everyone");
		expect(await everywhere("VIEW_CHANNEL")).not.toContain("the guild");
		const who = await world.call("check_permissions", { channel_ids: [category.id, voice.id], permissions: ["SPEAK"] });
		expect(who.text).toContain(`${names.voice}:\nSPEAK: `);
		expect(who.text).toEndWith(`Not applicable in: ${names.category}`);
	});

	worldTest(
		"of one member leaves out what does not apply to the channel, and bits if permissions are named",
		async (world) => {
			const { user, channel } = newcomer(world);
			await world.heard();
			const ask = async (args: object) =>
				(await world.call("check_permissions", { user_ids: [user.id], channel_ids: [channel.id], ...args })).text;
			const brief = await ask({});
			expect(brief).toContain("as bits");
			expect(brief).toContain("SEND_MESSAGES");
			expect(brief).not.toContain("CONNECT");
			const asked = await ask({ permissions: ["CONNECT"] });
			expect(asked).toContain("CONNECT | allowed");
			expect(asked).not.toContain("as bits");
		},
	);

	worldTest(
		"of a category is of its channels, and has the guild beside them for what only the guild decides",
		async (world) => {
			showAll(world);
			const { guild, simulator } = world;
			const { world: platform } = simulator;
			const { Cook } = cast(world, { Cook: Bit.BanMembers });
			if (!Cook) throw new Error("it was added");
			const category = platform.channels.add(guild, { name: "Food", type: ChannelType.GuildCategory });
			const [soup, staff, rules] = ["soup", "staff", "rules"].map((name) =>
				platform.channels.add(guild, { name, parent_id: category.id }),
			);
			if (!soup || !staff || !rules) throw new Error("three were added");
			platform.channels.setOverwrite(staff, roleOverwrite(guild.id, { deny: Bit.ViewChannel }));
			platform.channels.setOverwrite(rules, roleOverwrite(guild.id, { deny: Bit.SendMessages }));
			await world.heard();
			const ask = async (args: object) => {
				const { text } = await world.call("check_permissions", { channel_ids: [category.id], ...args });
				return text.split("\n").slice(1);
			};
			const named = ({ name, id }: GuildChannel) => `#${name} (ID: ${id})`;
			const permissions = ["VIEW_CHANNEL", "SEND_MESSAGES"];
			expect(await ask({ role_ids: ["@everyone"], permissions })).toEqual([
				`Checked: @everyone (ID: ${guild.id})`,
				`${named(soup)} | all: @everyone`,
				`${named(staff)} | none: @everyone`,
				`${named(rules)} | VIEW_CHANNEL: @everyone`,
			]);
			const both = await ask({ role_ids: ["@everyone", "@Cook"], permissions: [...permissions, "BAN_MEMBERS"] });
			expect(both.slice(1)).toEqual([
				"the guild | none: @everyone | all: @Cook",
				`${named(soup)} | all: @everyone, @Cook`,
				`${named(staff)} | none: @everyone, @Cook`,
				`${named(rules)} | VIEW_CHANNEL: @everyone, @Cook`,
			]);
			const who = await ask({ channel_ids: [staff.id], permissions: ["VIEW_CHANNEL", "BAN_MEMBERS"] });
			const cook = `1 by @Cook (ID: ${Cook.role.id}): @cook (ID: ${Cook.user.id})`;
			expect(who.slice(1)).toEqual([
				"the guild:",
				`BAN_MEMBERS: 3, 1 of them bot(s) | 2 owner or administrator(s) | ${cook}`,
				`${named(staff)}:`,
				"VIEW_CHANNEL: 2, 1 of them bot(s) | 2 owner or administrator(s)",
			]);
		},
	);

	worldTest("names who is timed out, and tells apart those with the same name", async (world) => {
		const { guild, simulator } = world;
		const zoe = memberNamed(world, "zoe");
		const role = simulator.world.roles.add(guild, { name: "zoe" });
		const odd = simulator.world.roles.add(guild, { name: "a, @b: all" });
		const until = new Date(Date.now() + 3_600_000).toISOString();
		simulator.world.members.edit(guild, zoe, { communication_disabled_until: until });
		await world.heard();
		const { text } = await world.call("check_permissions", {
			user_ids: [zoe.user.id],
			role_ids: [role.id, odd.id],
			permissions: ["MANAGE_GUILD"],
		});
		expect(text).toContain(`none: ${zoeName} (@zoe, ID: ${zoe.user.id}), @zoe (ID: ${role.id}), "@a, @b: all"`);
		expect(text).toContain(` until ${until.replace(/\.\d+/, "")}; now is `);
	});
});

describe("who has a permission", () => {
	worldTest("is listed by what gives it, with counts, bots and exceptions", async (world) => {
		showAll(world);
		const { guild, simulator } = world;
		const { world: platform } = simulator;
		const { Cook, Waiter, Guest } = cast(world, { Cook: 0n, Waiter: 0n, Guest: 0n });
		if (!Cook || !Waiter || !Guest) throw new Error("all were added");
		const [kitchen, hall] = ["kitchen", "hall"].map((name) => platform.channels.add(guild, { name }));
		if (!kitchen || !hall) throw new Error("both were added");
		const set = (channel: GuildChannel, id: string, type: 0 | 1, bits: { allow?: bigint; deny?: bigint }) =>
			platform.channels.setOverwrite(channel, {
				id,
				type,
				allow: String(bits.allow ?? 0n),
				deny: String(bits.deny ?? 0n),
			});
		set(kitchen, guild.id, 0, { deny: Bit.ViewChannel });
		set(kitchen, Cook.role.id, 0, { allow: Bit.ViewChannel });
		set(kitchen, Guest.user.id, 1, { allow: Bit.ViewChannel });
		set(hall, Waiter.role.id, 0, { deny: Bit.SendMessages });
		await world.heard();
		const total = guild.members.size;
		const { text } = await world.call("check_permissions", { channel_ids: [kitchen.id, hall.id] });
		const owner = `Ada (@ada, ID: ${guild.owner_id})`;
		const lines = text.split("\n").slice(2);
		expect(text).toStartWith(`Who of ${total} member(s), 1 of them bot(s) has permissions; now is `);
		expect(text).toContain(`\nOwner: ${owner} | ADMINISTRATOR by @alpha `);
		expect(lines).toEqual([
			`#kitchen (ID: ${kitchen.id}):`,
			`VIEW_CHANNEL, SEND_MESSAGES: 4, 1 of them bot(s) | 2 owner or administrator(s) | 1 by channel permissions of @Cook (ID: ${Cook.role.id}): @cook (ID: ${Cook.user.id}) | 1 by channel permissions of their own: @guest (ID: ${Guest.user.id})`,
			`#hall (ID: ${hall.id}):`,
			`VIEW_CHANNEL: ${total}, 1 of them bot(s) | 2 owner or administrator(s) | ${total - 2} as @everyone`,
			`SEND_MESSAGES: ${total - 1}, 1 of them bot(s) | 2 owner or administrator(s) | ${total - 3} as @everyone | not 1 by channel permissions of @Waiter (ID: ${Waiter.role.id}): @waiter (ID: ${Waiter.user.id})`,
		]);
	});

	worldTest("in the guild is listed by role, with channels whose permissions allow it", async (world) => {
		const { guild, simulator } = world;
		const { world: platform } = simulator;
		const { Cook, Boss } = cast(world, { Cook: Bit.BanMembers | Bit.ManageWebhooks, Boss: Bit.Administrator });
		if (!Cook || !Boss) throw new Error("both were added");
		const alpha = memberNamed(world, "alpha");
		platform.members.edit(guild, alpha, { roles: [Cook.role.id] });
		const owner = memberNamed(world, "ada");
		platform.members.edit(guild, owner, { roles: [Boss.role.id] });
		const channel = platform.channels.add(guild, { name: "kitchen" });
		platform.channels.setOverwrite(channel, roleOverwrite(guild.id, { allow: Bit.ManageWebhooks | Bit.BanMembers }));
		await world.heard();
		const { text } = await world.call("check_permissions", {
			permissions: ["BAN_MEMBERS", "MANAGE_WEBHOOKS", "VIEW_GUILD_INSIGHTS"],
		});
		expect(text).toContain(" has permissions in the guild; now is ");
		expect(text).toContain(
			`\nOwner: Ada (@ada, ID: ${owner.user.id}) | ADMINISTRATOR by @Boss (ID: ${Boss.role.id}): Ada (@ada, ID: ${owner.user.id}), @boss (ID: ${Boss.user.id})\n`,
		);
		expect(text).toContain(`ID: ${alpha.user.id}) (bot), @cook (ID: ${Cook.user.id})`);
		expect(text).toContain("\nVIEW_GUILD_INSIGHTS: 2 | 2 owner or administrator(s)");
		expect(text).toEndWith(
			`\nChannel permissions also allow MANAGE_WEBHOOKS: @everyone (ID: ${guild.id}) in #kitchen (ID: ${channel.id})\nUnknown in 1 channel(s) that the bot cannot see.`,
		);
		expect(text).not.toContain("also allow BAN_MEMBERS");
		const { text: important } = await world.call("check_permissions", {});
		expect(important).toContain("\nChannel permissions also allow MANAGE_WEBHOOKS: @everyone");
		const { text: none } = await world.call("check_permissions", { permissions: ["MANAGE_THREADS"] });
		expect(none).toContain("\nChannel permissions do not allow MANAGE_THREADS to anybody else.");
	});

	worldTest(
		"counts as Discord computes, for random roles, permissions of channels, timeouts and private threads",
		async (world) => {
			showAll(world);
			const { guild, simulator } = world;
			const { world: platform } = simulator;
			const { chance } = seeded(20_260_201);
			const bits = [Bit.ViewChannel, Bit.SendMessages, Bit.ManageThreads];
			const more = [Bit.Connect, Bit.SendMessagesInThreads, Bit.AttachFiles];
			const some = (share: number) => [...bits, ...more].reduce((sum, bit) => (chance(share) ? sum | bit : sum), 0n);
			const roles = Array.from({ length: 6 }, (_, index) =>
				platform.roles.add(guild, { name: `role-${index}`, permissions: String(some(0.2)) }),
			);
			const until = new Date(Date.now() + 3_600_000).toISOString();
			const members = Array.from({ length: 60 }, (_, index) => {
				const user = platform.users.add({ username: `person-${index}` });
				const own = roles.filter(() => chance(0.3)).map(({ id }) => id);
				const member = platform.members.add(guild, user, { roles: own });
				if (chance(0.1)) platform.members.edit(guild, member, { communication_disabled_until: until });
				return member;
			});
			const channels = Array.from({ length: 12 }, (_, index) => {
				const type = index % 3 === 0 ? ChannelType.GuildVoice : ChannelType.GuildText;
				const channel = platform.channels.add(guild, { name: `c-${index}`, type });
				for (const [id, kind] of [
					[guild.id, 0],
					...roles.map(({ id }) => [id, 0] as const),
					...members.slice(0, 5).map(({ user }) => [user.id, 1] as const),
				] as const)
					if (chance(0.5)) {
						const deny = some(0.3);
						platform.channels.setOverwrite(channel, {
							id,
							type: kind,
							deny: String(deny),
							allow: String(some(0.3) & ~deny),
						});
					}
				return channel;
			});
			const [, parent] = channels;
			const [first] = members;
			if (!parent || !first) throw new Error("they were added");
			const thread = platform.threads.add(parent, first.user, { name: "secret", type: ChannelType.PrivateThread });
			await world.heard();
			for (const place of [...channels, thread]) {
				const { text } = await world.call("check_permissions", {
					channel_ids: [place.id],
					permissions: ["VIEW_CHANNEL", "ATTACH_FILES", "MANAGE_THREADS"],
				});
				for (const [name, bit] of [
					["VIEW_CHANNEL", Bit.ViewChannel],
					["ATTACH_FILES", Bit.AttachFiles],
					["MANAGE_THREADS", Bit.ManageThreads],
				] as const) {
					const expected = [...guild.members.keys()].filter(
						(id) => (channelPermissions(guild, place, id) & bit) !== 0n,
					).length;
					const line = text.split("\n").find((one) => one.split(": ", 1)[0]?.split(", ").includes(name));
					expect(`${place.name} ${name} ${/: (\d+)/.exec(line ?? "")?.[1]}`).toBe(`${place.name} ${name} ${expected}`);
				}
			}
		},
	);

	worldTest("of 5,000 members is listed in a short result", async (world) => {
		const { guild, simulator } = world;
		const { world: platform } = simulator;
		const roles = Array.from({ length: 40 }, (_, index) =>
			platform.roles.add(guild, { name: `role-${index}`, permissions: String(Bit.ManageMessages) }),
		);
		for (let index = 0; index < 5_000; index += 1) {
			const user = platform.users.add({ username: `person-${index}` });
			const [a, b] = [roles[index % 40], roles[(index * 7) % 39]];
			const own = [...new Set([a?.id, b?.id])].filter((id) => id !== undefined);
			platform.members.add(guild, user, { roles: own });
		}
		const channels = Array.from({ length: 30 }, (_, index) => {
			const channel = platform.channels.add(guild, { name: `c-${index}` });
			platform.channels.setOverwrite(channel, roleOverwrite(roles[index]?.id ?? "", { deny: Bit.SendMessages }));
			return channel;
		});
		await world.heard();
		const { text } = await world.call("check_permissions", { channel_ids: channels.map(({ id }) => id) });
		expect(text).toMatch(/not \d+ by channel permissions of @role-0 /);
		expect(text).toContain(": only counted");
		expect(text).toEndWith(
			'\nGroups of more than 15 are only counted: list_members with where="role:ID" lists the members of a role.',
		);
		expect(text).not.toContain("@person-");
		expect(text.length).toBeLessThan(10_000);
	});
});
