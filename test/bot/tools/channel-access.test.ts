// Creating and editing channels with their access, place and forum settings in one call.

import { describe, expect, test } from "bun:test";
import { ChannelType, PermissionFlagsBits } from "discord.js";
import type { GuildChannel } from "../../../src/simulator/world/state/entities.ts";
import { testWith } from "../../support/test-with.ts";
import { until } from "../../support/until.ts";
import {
	channelNamed,
	denyBot,
	makeCommunity,
	memberNamed,
	roleNamed,
	startWorld,
	type TestWorld,
	writes,
} from "../../support/world.ts";

const {
	Connect,
	CreatePrivateThreads,
	CreatePublicThreads,
	ManageChannels,
	ManageRoles,
	PrioritySpeaker,
	SendMessages,
	SendMessagesInThreads,
	Speak,
	ViewChannel,
} = PermissionFlagsBits;
const writing = SendMessages | SendMessagesInThreads | CreatePublicThreads | CreatePrivateThreads;

/** A world with what the tests name: a category, roles, members and the bot. */
async function scene() {
	const world = await startWorld();
	const { simulator, guild } = world;
	const [staff, regular] = ["Staff", "Regular"].map((name) => roleNamed(world, name));
	if (!staff || !regular) throw new Error("the world has both roles");
	const alpha = simulator.bot("alpha").id;
	const talk = channelNamed(world, "Talk");
	const add = (given: Parameters<typeof simulator.world.channels.add>[1]) => simulator.world.channels.add(guild, given);
	const make = (args: Record<string, unknown>) => world.call("create_channel", { name: "fresh", ...args });
	const overwrite = (channel: GuildChannel, id: string, allow: bigint, deny: bigint) =>
		simulator.world.channels.setOverwrite(channel, {
			id,
			type: guild.roles.has(id) || id === guild.id ? 0 : 1,
			allow: String(allow),
			deny: String(deny),
		});
	return {
		world,
		simulator,
		guild,
		staff,
		regular,
		alpha,
		talk,
		add,
		make,
		overwrite,
		edit: (channel: GuildChannel, args: Record<string, unknown>) =>
			world.call("edit_channel", { channel_id: channel.id, ...args }),
		fresh: (name = "fresh") => channelNamed(world, name),
		overwrites: (channel: GuildChannel) =>
			channel.permission_overwrites.map(({ id, allow, deny }) => [nameOf(world, id), BigInt(allow), BigInt(deny)]),
		[Symbol.asyncDispose]: world[Symbol.asyncDispose],
	};
}

const sceneTest = testWith(scene);

function nameOf({ guild }: TestWorld, id: string): string {
	return guild.roles.get(id)?.name ?? guild.members.get(id)?.user.username ?? id;
}

describe("access of a new channel", () => {
	sceneTest("with view_* only these roles and members see it, and the bot", async (it) => {
		const zoe = memberNamed(it.world, "zoe").user;
		const { text } = await it.make({ view_role_ids: [it.staff.id], view_user_ids: [zoe.id] });
		expect(text).toBe(
			`Created the text channel #fresh (ID: ${it.fresh().id}).\nOverwrites: @everyone: VIEW_CHANNEL neutral → denied; @Staff (ID: ${it.staff.id}): VIEW_CHANNEL neutral → allowed; Zoë 🍞 (@zoe, ID: ${zoe.id}): VIEW_CHANNEL neutral → allowed; the bot: VIEW_CHANNEL neutral → allowed.`,
		);
		expect(it.overwrites(it.fresh())).toEqual([
			["@everyone", 0n, ViewChannel],
			["Staff", ViewChannel, 0n],
			["zoe", ViewChannel, 0n],
			["alpha", ViewChannel, 0n],
		]);
		expect(writes(it.world)).toHaveLength(1);
		await it.simulator.user("zoe").say("fresh", "hello");
		await expect(it.simulator.user("liwei").say("fresh", "x")).rejects.toThrow();
	});

	sceneTest("with write_role_ids everyone reads, and only these write, also in threads", async (it) => {
		const { text } = await it.make({ write_role_ids: [it.staff.id] });
		const names = "SEND_MESSAGES, CREATE_PUBLIC_THREADS, CREATE_PRIVATE_THREADS, SEND_MESSAGES_IN_THREADS";
		expect(text).toEndWith(
			`.\nOverwrites: @everyone: ${names} neutral → denied; @Staff (ID: ${it.staff.id}): VIEW_CHANNEL, ${names} neutral → allowed; the bot: ${names} neutral → allowed.`,
		);
		expect(it.overwrites(it.fresh())).toEqual([
			["@everyone", 0n, writing],
			["Staff", ViewChannel | writing, 0n],
			["alpha", writing, 0n],
		]);
		await it.simulator.user("jose.garcia").say("fresh", "hello");
		await expect(it.simulator.user("zoe").say("fresh", "x")).rejects.toThrow();
		const channel_id = it.fresh().id;
		await it.world.expectResult("send_message", { channel_id, content: "x" });
	});

	sceneTest("in a voice channel those who see it may connect, and those who write speak", async (it) => {
		const { text } = await it.make({
			channel_type: "voice",
			user_limit: 5,
			view_role_ids: [it.regular.id],
			write_role_ids: [it.staff.id],
		});
		expect(text).toContain(`@Regular (ID: ${it.regular.id}): VIEW_CHANNEL, CONNECT neutral → allowed; `);
		expect(it.overwrites(it.fresh())).toEqual([
			["@everyone", 0n, ViewChannel | SendMessages | Speak],
			["Regular", ViewChannel | Connect, 0n],
			["Staff", ViewChannel | Connect | SendMessages | Speak, 0n],
			["alpha", ViewChannel | SendMessages | Speak, 0n],
		]);
		expect(it.fresh().user_limit).toBe(5);
	});

	sceneTest("changes what the category gives: a read-only channel in a private category stays private", async (it) => {
		const { talk, guild, staff, regular, alpha } = it;
		it.overwrite(talk, guild.id, 0n, ViewChannel);
		it.overwrite(talk, staff.id, ViewChannel | SendMessages, 0n);
		it.overwrite(talk, alpha, ViewChannel, 0n);
		await it.world.heard();
		await it.make({ category_id: talk.id, write_role_ids: [regular.id] });
		expect(it.overwrites(it.fresh())).toEqual([
			["@everyone", 0n, ViewChannel | writing],
			["Staff", ViewChannel, 0n],
			["alpha", ViewChannel | writing, 0n],
			["Regular", ViewChannel | writing, 0n],
		]);
	});

	sceneTest("is as fresh as the category, however late its events are", async (it) => {
		const { talk, staff, guild } = it;
		it.simulator.sockets.holdEvents(true);
		it.overwrite(talk, guild.id, 0n, ViewChannel);
		await it.make({ category_id: talk.id, write_role_ids: [staff.id] });
		expect(it.overwrites(it.fresh())[0]).toEqual(["@everyone", 0n, ViewChannel | writing]);
	});

	sceneTest("takes named overwrites of roles and members, and the bot keeps access", async (it) => {
		const zoe = memberNamed(it.world, "zoe").user;
		const { text } = await it.make({
			permission_overwrites: [
				{ id: it.guild.id, deny: ["view_channel"] },
				{ id: zoe.id, allow: ["VIEW_CHANNEL"], deny: ["SEND_MESSAGES"] },
			],
		});
		expect(text).toEndWith(
			`.\nOverwrites: @everyone: VIEW_CHANNEL neutral → denied; Zoë 🍞 (@zoe, ID: ${zoe.id}): VIEW_CHANNEL neutral → allowed, SEND_MESSAGES neutral → denied; the bot: VIEW_CHANNEL neutral → allowed.`,
		);
		expect(it.overwrites(it.fresh())).toEqual([
			["@everyone", 0n, ViewChannel],
			["zoe", ViewChannel, SendMessages],
			["alpha", ViewChannel, 0n],
		]);
	});

	sceneTest("a bot that is administrator gets no overwrite", async (it) => {
		const role = roleNamed(it.world, "alpha");
		it.simulator.world.roles.edit(it.guild, role, { permissions: String(PermissionFlagsBits.Administrator) });
		await it.world.heard();
		await it.make({ view_role_ids: [it.staff.id] });
		expect(it.overwrites(it.fresh()).map(([name]) => name)).toEqual(["@everyone", "Staff"]);
	});

	sceneTest.each([
		["voice", Connect, "CONNECT"],
		["text", ViewChannel, "VIEW_CHANNEL"],
		["text", ManageChannels, "MANAGE_CHANNELS"],
	])("a %s channel in a category that denies the bot %d can be managed", async (it, channel_type, bits, name) => {
		it.overwrite(it.talk, it.guild.id, 0n, bits);
		await it.world.heard();
		const { text } = await it.make({ channel_type, category_id: it.talk.id });
		expect(text).toEndWith(`.\nOverwrites, beside those of its category: the bot: ${name} neutral → allowed.`);
		expect(it.overwrites(it.fresh())).toEqual([
			["@everyone", 0n, bits],
			["alpha", bits, 0n],
		]);
		const edited = await it.edit(it.fresh(), { slowmode: "5s" });
		expect(edited.isError).toBe(false);
	});

	sceneTest("what the bot cannot allow is not taken over from the category, and said", async (it) => {
		const { talk, staff, regular } = it;
		it.overwrite(talk, staff.id, ManageRoles | PrioritySpeaker, 0n);
		await it.world.heard();
		const { text } = await it.make({ category_id: talk.id, view_role_ids: [regular.id] });
		expect(text).toEndWith(
			"\nNot taken over from its category, because the bot cannot allow it: PRIORITY_SPEAKER, MANAGE_ROLES.",
		);
		expect(it.overwrites(it.fresh()).map(([name]) => name)).not.toContain("Staff");
	});

	sceneTest.each([
		[{ view_role_ids: [] }, "view_role_ids: expected at least 1"],
		[
			{ permission_overwrites: [{ id: "123456789012345678" }] },
			"permission_overwrites: 123456789012345678 is neither a role nor a member",
		],
		[
			{ permission_overwrites: [{ id: "@Staff", allow: ["FLY"] }] },
			'permission_overwrites: Discord has no permission "FLY"',
		],
		[
			{ permission_overwrites: [{ id: "@Staff", allow: ["CONNECT"], deny: ["CONNECT"] }] },
			"CONNECT cannot be both allowed and denied",
		],
		[{ permission_overwrites: [{ id: "@Staff" }, { id: "@Staff" }] }, "expected each id once"],
		[
			{ permission_overwrites: [{ id: "@Staff", allow: ["MANAGE_ROLES"] }] },
			"Only an administrator can allow or deny MANAGE_ROLES",
		],
		[{ permission_overwrites: [{ id: "@Staff", deny: ["PRIORITY_SPEAKER"] }] }, "it lacks PRIORITY_SPEAKER"],
	])("%j is refused before a write", async (it, args, said) => {
		const given = JSON.stringify(args).replaceAll("@Staff", it.staff.id);
		const { text, isError } = await it.make(JSON.parse(given));
		expect(isError).toBe(true);
		expect(text).toContain(said);
		expect(writes(it.world)).toEqual([]);
	});
});

describe("access of an existing channel", () => {
	sceneTest("is changed in one request, and said for each role and member", async (it) => {
		const general = channelNamed(it.world, "general");
		it.overwrite(general, it.regular.id, ViewChannel, 0n);
		await it.world.heard();
		const args = { view_role_ids: [it.staff.id], topic: "Secret" };
		const lines = [
			"topic: Everything and nothing → Secret",
			"@everyone: VIEW_CHANNEL neutral → denied",
			`@Staff (ID: ${it.staff.id}): VIEW_CHANNEL neutral → allowed`,
			"the bot: VIEW_CHANNEL neutral → allowed",
			`@Regular (ID: ${it.regular.id}): VIEW_CHANNEL allowed → neutral`,
		];
		const dry = await it.edit(general, { ...args, dry_run: true });
		expect(dry.text.split("\n").slice(1)).toEqual([
			`Would change #general (ID: ${general.id}):`,
			...lines,
			"Counts as destructive: it replaces the channel's view_role_ids, topic.",
		]);
		expect(writes(it.world)).toEqual([]);
		const { text } = await it.edit(general, args);
		expect(text.split("\n")).toEqual([`Changed #general (ID: ${general.id}):`, ...lines]);
		expect(writes(it.world)).toHaveLength(1);
		expect((await it.edit(general, args)).text).toBe(
			`Nothing would change: #general (ID: ${general.id}) already has the given topic, view_role_ids. Nothing was done.`,
		);
	});

	sceneTest("of a category is changed for its synced channels, too, which are named", async (it) => {
		const { text } = await it.edit(it.talk, { view_role_ids: [it.staff.id] });
		expect(text).toEndWith(
			"\nthe bot: VIEW_CHANNEL neutral → allowed\n2 synced channel(s) follow: #general, #Lounge; 1 not synced, with permissions of their own, stay: #staff",
		);
	});

	sceneTest("@everyone among those who see and write opens it", async (it) => {
		const general = channelNamed(it.world, "general");
		const [only, all] = [[it.staff.id], [it.guild.id]];
		await it.edit(general, { view_role_ids: only, write_role_ids: only });
		await it.edit(general, { view_role_ids: all, write_role_ids: all });
		await it.simulator.user("zoe").say("The Cooks/general", "hello");
		expect(it.overwrites(general)).toEqual([["alpha", ViewChannel | writing, 0n]]);
	});

	sceneTest("requires MANAGE_ROLES in the channel, unlike other settings", async (it) => {
		const general = channelNamed(it.world, "general");
		await denyBot(it.world, general, ManageRoles);
		const { text } = await it.edit(general, { write_role_ids: [it.staff.id] });
		expect(text).toStartWith("The bot lacks MANAGE_ROLES in #general");
		expect((await it.edit(general, { topic: "x" })).isError).toBe(false);
	});
});

describe("below_channel_id", () => {
	/** Two categories with channels whose positions collide, and the order in a category as clients show it. */
	async function places() {
		const it = await scene();
		const category = (name: string) => it.add({ name, type: ChannelType.GuildCategory });
		const [attic, cellar] = [category("Attic"), category("Cellar")];
		for (const name of ["a", "b", "c"]) it.add({ name, parent_id: attic.id, position: 4 });
		it.add({ name: "V", parent_id: attic.id, position: 0, type: ChannelType.GuildVoice });
		await it.world.heard();
		const order = async (parent: GuildChannel) => {
			await it.world.heard();
			const { text } = await it.world.call("list_channels", { category_id: parent.id });
			return Array.from(text.matchAll(/^#(\S+) \|/gm), ([, name]) => name)
				.slice(1)
				.join("");
		};
		const id = (name: string) => channelNamed(it.world, name).id;
		return Object.assign(it, { attic, cellar, order, id });
	}

	const placesTest = testWith(places);

	test.each([
		["a", "text", "aXbcV"],
		["c", "text", "abcXV"],
		["Attic", "text", "XabcV"],
		["V", "voice", "abcVX"],
		["c", "voice", "abcXV"],
		["b", "announcement", "abXcV"],
	])("below %s, a new %s channel lands there: %s", async (...row) => {
		const [below, channel_type, expected] = row;
		await using it = await places();
		await makeCommunity(it.world);
		const below_channel_id = it.id(below);
		const { text } = await it.make({ name: "X", channel_type, below_channel_id });
		const where =
			below === "Attic"
				? `at the top of #Attic (ID: ${it.attic.id})`
				: `below #${below} (ID: ${below_channel_id}) in #Attic (ID: ${it.attic.id})`;
		expect(text).toEndWith(` ${where}.\nFor @everyone: public, as in its category.`);
		expect((await it.order(it.attic)).toUpperCase()).toBe(expected.toUpperCase());
	});

	placesTest.each([
		["a", "c", "bcaV"],
		["c", "a", "acbV"],
		["c", "Attic", "cabV"],
		["general", "a", "ageneralbcV"],
		["Lounge", "V", "abcVLounge"],
		["Lounge", "c", "abcLoungeV"],
	])("%s is moved below %s: %s", async (it, name, below, expected) => {
		const channel = channelNamed(it.world, name);
		const args = { below_channel_id: it.id(below), topic: "x" };
		const { topic: _, ...rest } = args;
		const given = name === "Lounge" ? rest : args;
		const { text, isError } = await it.edit(channel, given);
		expect({ text, isError }).toMatchObject({ isError: false });
		expect(text).toMatch(/\nplace: (below|at the top of) #\w+ \(ID: \d+\)/);
		expect(await it.order(it.attic)).toBe(expected);
		expect((await it.edit(channel, given)).text).toStartWith("Nothing would change");
	});

	placesTest("a category lands below another one", async (it) => {
		const below_channel_id = it.talk.id;
		const { text } = await it.make({ name: "New", channel_type: "category", below_channel_id });
		expect(text).toEndWith(` below #Talk (ID: ${it.talk.id}).\nFor @everyone: public.`);
		await it.world.heard();
		const listed = (await it.world.call("list_channels")).text;
		expect(listed).toMatch(/^#Talk .*^#Lounge .*^#New .*^#Attic .*^#Cellar /ms);
	});

	test.each([
		["a", "voice", "voice and stage channels below all other channels"],
		["V", "text", "expected a text channel or a category"],
		["a", "category", "expected a category"],
		["Attic", "voice", "expected #c"],
	])("below %s a %s channel is not shown by clients", async (...row) => {
		const [below, channel_type, said] = row;
		await using it = await places();
		const below_channel_id = it.id(below);
		const { code, text } = await it.make({ channel_type, below_channel_id });
		expect(code).toBe(-32602);
		expect(text).toContain(said);
		expect(writes(it.world)).toEqual([]);
	});

	placesTest("must be in category_id, and not the channel itself", async (it) => {
		const [a, b] = [it.id("a"), it.id("b")];
		const elsewhere = { below_channel_id: a, category_id: it.cellar.id };
		const own = channelNamed(it.world, "b");
		for (const { code, text } of [
			await it.make(elsewhere),
			await it.edit(own, elsewhere),
			await it.edit(own, { below_channel_id: b }),
		]) {
			expect(code).toBe(-32602);
			expect(text).toContain("below_channel_id: expected");
		}
		expect(writes(it.world)).toEqual([]);
	});

	placesTest("a full category is refused", async (it) => {
		for (let index = 0; index < 50; index += 1) it.add({ name: `n${index}`, parent_id: it.cellar.id });
		await it.world.heard();
		const args = { below_channel_id: it.id("n7") };
		for (const { text } of [await it.make(args), await it.edit(channelNamed(it.world, "a"), args)])
			expect(text).toContain("Maximum number of channels in category reached (50)");
	});

	placesTest("a new channel that could not be placed is reported with its id", async (it) => {
		it.simulator.faults.refuse("PATCH /guilds/*/channels", 50013);
		const { text, isError } = await it.make({ below_channel_id: it.id("a") });
		expect(isError).toBe(false);
		expect(text).toStartWith(
			`Created the text channel #fresh (ID: ${it.fresh().id}) in #Attic (ID: ${it.attic.id}).\nFor @everyone: public, as in its category.\nThe channel exists, but may not be at its place: `,
		);
		expect(text).toContain("(code 50013)");
	});

	placesTest("a new channel is reported though the channel above it was deleted meanwhile", async (it) => {
		const held = it.simulator.faults.stall("POST /guilds/*/channels", { after: true });
		const above = channelNamed(it.world, "a");
		const made = it.make({ below_channel_id: above.id });
		await until("the channel is there", () => held.hits > 0);
		it.simulator.world.channels.remove(above);
		held.release();
		const { text, isError } = await made;
		expect(isError).toBe(false);
		expect(text).toStartWith(`Created the text channel #fresh (ID: ${it.fresh().id})`);
		expect(text).toContain(
			`The channel exists, but may not be at its place: The channel ${above.id} was just deleted.`,
		);
		expect(text).not.toContain("Nothing was done");
	});

	placesTest("an edit whose second request fails says what was done and what was not", async (it) => {
		it.simulator.faults.refuse("PATCH /guilds/*/channels", 50013);
		const { text } = await it.edit(channelNamed(it.world, "c"), { topic: "x", below_channel_id: it.id("a") });
		expect(text).toMatch(
			/^Changed #c \(ID: \d+\) in part, by 1 of 2 requests:\ntopic: none → x\n1 refused by Discord:\nplace \| .*\(code 50013\)/,
		);
	});
});

sceneTest("a forum is made with tags, guidelines and defaults, and edited", async (it) => {
	const { text } = await it.make({
		channel_type: "forum",
		topic: "Be kind.",
		tags: [{ name: "Bug", emoji: "🐛", moderated: true }, { name: "Idea" }],
	});
	const forum = it.fresh();
	const [bug, idea] = forum.available_tags;
	expect(text).toBe(
		`Created the forum channel #fresh (ID: ${forum.id}).\ntopic: Be kind.\nFor @everyone: public.\ntag: Bug | ID: ${bug?.id} | emoji: 🐛 | moderated: needs MANAGE_THREADS\ntag: Idea | ID: ${idea?.id}`,
	);
	expect(forum.topic).toBe("Be kind.");
	it.simulator.world.channels.edit(forum, {
		flags: 16,
		default_reaction_emoji: { emoji_id: null, emoji_name: "👍" },
		default_sort_order: 1,
		default_forum_layout: 2,
		default_thread_rate_limit_per_user: 30,
		default_auto_archive_duration: 10_080,
	});
	await it.world.heard();
	const shown = await it.world.call("get_channel", { channel_id: forum.id });
	expect(shown.text).toContain(
		"\nslow mode of new threads: 30 s\nauto-archive of new threads: 10080 min\ndefault reaction: 👍\nsort order: creation_date\nlayout: gallery\ntags: 2, every post needs at least one\ntag: Bug | ID: ",
	);
	const edited = await it.edit(forum, { tags: ["Idea"] });
	expect(edited.text.split("\n").slice(1)).toEqual([
		"tags: 0 new, 0 changed, 1 deleted",
		`deleted tag: Bug | ID: ${bug?.id} | emoji: 🐛 | moderated: needs MANAGE_THREADS | on 0 active post(s)`,
		`tag: Idea | ID: ${idea?.id}`,
	]);
});

sceneTest("a text channel becomes an announcement channel in a community, and no other kind", async (it) => {
	const general = channelNamed(it.world, "general");
	const convert = async (channel_type: string, channel = general) => (await it.edit(channel, { channel_type })).text;
	expect(await convert("announcement")).toContain("only in communities");
	await makeCommunity(it.world);
	expect(await convert("announcement")).toBe(`Changed #general (ID: ${general.id}):\nkind: text → announcement`);
	expect(general.type).toBe(ChannelType.GuildAnnouncement);
	expect(await convert("announcement")).toContain("Nothing would change");
	const lounge = channelNamed(it.world, "Lounge");
	expect(await convert("text", lounge)).toContain("channel_type: Discord can only change text channels");
	expect(await convert("voice")).toContain("channel_type: expected");
	expect(await convert("text")).toEndWith("kind: announcement → text");
});

sceneTest.each([
	[{ tags: [{ name: "x", emoji: "<:pan:123456789012345678>" }] }, "There is no emoji 123456789012345678"],
])("a forum with %j is refused before a write", async (it, args, said) => {
	const { text } = await it.make({ channel_type: "forum", ...args });
	expect(text).toContain(said);
	expect(writes(it.world)).toEqual([]);
});
