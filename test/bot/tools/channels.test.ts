// create_channel, edit_channel and set_channel_permissions, seen on the platform.

import { describe, expect, test } from "bun:test";
import { ChannelType, PermissionFlagsBits } from "discord.js";
import type { GuildChannel, Role } from "../../../src/simulator/entities.ts";
import { startWorld, type TestWorld } from "../../support/world.ts";

const {
	Connect,
	ManageRoles,
	PrioritySpeaker,
	SendMessages,
	Speak,
	ViewChannel,
} = PermissionFlagsBits;
const create = "POST /guilds/:guild_id/channels";

function named(world: TestWorld, name: string): GuildChannel {
	for (const channel of world.guild.channels.values())
		if (channel.name === name) return channel;
	throw new Error(`no channel is called ${name}`);
}

function roleNamed(world: TestWorld, name: string): Role {
	for (const role of world.guild.roles.values())
		if (role.name === name) return role;
	throw new Error(`no role is called ${name}`);
}

/** The requests that write, in order. */
function writes({ simulator }: TestWorld): string[] {
	return simulator.requests
		.list()
		.filter(({ method }) => method !== "GET")
		.map(({ method, path }) => `${method} ${path}`);
}

describe("create_channel", () => {
	test.each([
		[
			"text",
			ChannelType.GuildText,
			{ topic: "t", nsfw: true, slowmode_seconds: 21_600 },
		],
		[
			"voice",
			ChannelType.GuildVoice,
			{ bitrate: 8000, user_limit: 99, nsfw: true },
		],
		["category", ChannelType.GuildCategory, { position: 3 }],
		[
			"forum",
			ChannelType.GuildForum,
			{ topic: "t".repeat(1024), slowmode_seconds: 5 },
		],
		["stage", ChannelType.GuildStageVoice, { user_limit: 10_000 }],
		["announcement", ChannelType.GuildAnnouncement, { topic: "", nsfw: false }],
	])(
		"makes a %s channel with all its fields",
		async (channel_type, type, fields) => {
			await using world = await startWorld();
			const { text, isError } = await world.call("create_channel", {
				name: "fresh",
				channel_type,
				...fields,
			});
			const channel = named(world, "fresh");
			expect(text).toBe(
				`Created the ${channel_type} channel #fresh (ID: ${channel.id}).`,
			);
			expect(isError).toBe(false);
			const {
				topic,
				slowmode_seconds: slowmode,
				...same
			} = {
				topic: undefined,
				slowmode_seconds: undefined,
				...fields,
			};
			expect(channel).toMatchObject({
				type,
				...same,
				topic: topic || null,
				rate_limit_per_user: slowmode ?? 0,
				permission_overwrites: [],
			});
		},
	);

	test("makes a text channel when it is told no kind, and says the name that Discord gave it", async () => {
		await using world = await startWorld();
		const { text } = await world.call("create_channel", { name: "Fresh Fish" });
		expect(text).toStartWith("Created the text channel #fresh-fish (ID: ");
		expect(named(world, "fresh-fish").type).toBe(ChannelType.GuildText);
	});

	test("puts it into a category", async () => {
		await using world = await startWorld();
		const talk = named(world, "Talk");
		const { text } = await world.call("create_channel", {
			name: "fresh",
			category_id: talk.id,
		});
		expect(named(world, "fresh").parent_id).toBe(talk.id);
		expect(text).toContain(` in #Talk (ID: ${talk.id})`);
	});

	test("makes it private to roles in one call, and the bot still sees it", async () => {
		await using world = await startWorld();
		const { simulator, guild } = world;
		const staff = roleNamed(world, "Staff");
		const { isError } = await world.call("create_channel", {
			name: "secret",
			category_id: named(world, "Talk").id,
			private_to_role_ids: [staff.id, staff.id],
		});
		expect(isError).toBe(false);
		expect(writes(world)).toHaveLength(1);
		const channel = named(world, "secret");
		expect(channel.permission_overwrites).toEqual([
			{ id: guild.id, type: 0, allow: "0", deny: String(ViewChannel) },
			{ id: staff.id, type: 0, allow: String(ViewChannel), deny: "0" },
			{
				id: simulator.bot("alpha").id,
				type: 1,
				allow: String(ViewChannel),
				deny: "0",
			},
		]);
		await expect(simulator.user("zoe").say("secret", "x")).rejects.toThrow();
		await simulator.user("jose.garcia").say("secret", "hello");
		const sent = await world.call("send_message", {
			channel_id: channel.id,
			content: "hello",
		});
		expect(sent.isError).toBe(false);
	});

	test("a channel private to everyone is refused", async () => {
		await using world = await startWorld();
		const { code, text } = await world.call("create_channel", {
			name: "secret",
			private_to_role_ids: [world.guild.id],
		});
		expect(code).toBe(-32602);
		expect(text).toContain(
			"private_to_role_ids: everyone has the role @everyone",
		);
		expect(writes(world)).toEqual([]);
	});

	test.each([
		[{ channel_type: "voice", topic: "x" }, "topic: voice channels have none"],
		[
			{ channel_type: "text", bitrate: 8000 },
			"bitrate: text channels have none",
		],
		[
			{ channel_type: "text", user_limit: 0 },
			"user_limit: text channels have none",
		],
		[
			{ channel_type: "category", category_id: "Talk", nsfw: false },
			"nsfw: category channels have none; category_id: category channels have none",
		],
		[
			{ channel_type: "announcement", slowmode_seconds: 1 },
			"slowmode_seconds: announcement channels have none",
		],
		[
			{ channel_type: "voice", user_limit: 100 },
			"a voice channel has at most 99",
		],
		[{ channel_type: "thread" }, "channel_type: expected"],
		[{ channel_type: "Text" }, "channel_type: expected"],
		[{ channel_type: 0 }, "channel_type: expected"],
	])("refuses %j before Discord sees it", async (args, fault) => {
		await using world = await startWorld();
		const { category_id, ...rest } = { category_id: undefined, ...args };
		const { code, text } = await world.call("create_channel", {
			name: "fresh",
			...rest,
			...(category_id && { category_id: named(world, category_id).id }),
		});
		expect(code).toBe(-32602);
		expect(text).toContain(fault);
		expect(world.simulator.requests.list(create)).toEqual([]);
	});

	test("a channel that is no category is none to create in", async () => {
		await using world = await startWorld();
		const { id } = named(world, "general");
		const { text } = await world.call("create_channel", {
			name: "fresh",
			category_id: id,
		});
		expect(text).toBe(
			`#general (ID: ${id}) is not a category. list_channels shows the categories.`,
		);
		expect(writes(world)).toEqual([]);
	});
});

describe("edit_channel", () => {
	test.each([
		["name", "New", { name: "new" }],
		["topic", "new", { topic: "new" }],
		["topic", "", { topic: null }],
		["nsfw", true, { nsfw: true }],
		["slowmode_seconds", 60, { rate_limit_per_user: 60 }],
		["category_id", "", { parent_id: null }],
	])("changes %s to %j and nothing else", async (field, value, expected) => {
		await using world = await startWorld();
		const channel = named(world, "general");
		const before = structuredClone(channel);
		const { text, isError } = await world.call("edit_channel", {
			channel_id: channel.id,
			[field]: value,
		});
		expect({ text, isError }).toEqual({
			text: `Changed ${field} of #${channel.name} (ID: ${channel.id}).`,
			isError: false,
		});
		expect(channel).toEqual({ ...before, ...expected });
		const [entry] = world.simulator.journal.entries();
		expect(Object.keys(entry?.body as object)).toEqual(Object.keys(expected));
	});

	test("moves a channel into another category", async () => {
		await using world = await startWorld();
		const { world: platform } = world.simulator;
		const type = ChannelType.GuildCategory;
		const attic = platform.addChannel(world.guild, { name: "Attic", type });
		const channel = named(world, "general");
		await world.call("edit_channel", {
			channel_id: channel.id,
			category_id: attic.id,
		});
		expect(channel.parent_id).toBe(attic.id);
	});

	test("sends only what differs", async () => {
		await using world = await startWorld();
		const { id: channel_id } = named(world, "general");
		const { text } = await world.call("edit_channel", {
			channel_id,
			name: "general",
			topic: "Everything and nothing",
			nsfw: true,
		});
		expect(text).toStartWith("Changed nsfw of #general");
		expect(world.simulator.journal.entries()).toMatchObject([
			{ body: { nsfw: true } },
		]);
	});

	test("refuses an edit that would change nothing, or says nothing", async () => {
		await using world = await startWorld();
		const { id: channel_id, parent_id } = named(world, "general");
		const same = await world.call("edit_channel", {
			channel_id,
			name: "general",
			slowmode_seconds: 0,
			category_id: parent_id,
		});
		expect(same.isError).toBe(true);
		expect(same.text).toStartWith(
			`Nothing would change: #general (ID: ${channel_id}) has name, slowmode_seconds, category_id as given already.`,
		);
		const none = await world.call("edit_channel", { channel_id });
		expect(none.code).toBe(-32602);
		expect(none.text).toContain("expected at least one of these");
		expect(writes(world)).toEqual([]);
	});

	test("does not claim a change where Discord made the old name of the new one", async () => {
		await using world = await startWorld();
		const { id: channel_id } = named(world, "general");
		const { text, isError } = await world.call("edit_channel", {
			channel_id,
			name: "General",
		});
		expect(isError).toBe(true);
		expect(text).toStartWith("Nothing has changed: ");
	});

	test("edits back to back build on one another, however late their events are", async () => {
		await using world = await startWorld();
		const channel = named(world, "general");
		world.simulator.sockets.holdEvents(true);
		const topics = ["A", "B", "A", "B", "A", "A"];
		const answers = [];
		for (const topic of topics)
			answers.push(
				await world.call("edit_channel", { channel_id: channel.id, topic }),
			);
		expect(answers.map(({ isError }) => isError)).toEqual([
			...Array(5).fill(false),
			true,
		]);
		expect(channel.topic).toBe("A");
	});

	test("edits of other fields at the same time do not undo one another", async () => {
		await using world = await startWorld();
		const channel = named(world, "general");
		const edits = [
			{ name: "new" },
			{ topic: "new" },
			{ nsfw: true },
			{ slowmode_seconds: 7 },
			{ category_id: "" },
		];
		await Promise.all(
			edits.map((edit) =>
				world.call("edit_channel", { channel_id: channel.id, ...edit }),
			),
		);
		expect(channel).toMatchObject({
			name: "new",
			topic: "new",
			nsfw: true,
			rate_limit_per_user: 7,
			parent_id: null,
		});
	});

	test("a channel that the bot cannot see is refused with what is missing and who can grant it", async () => {
		await using world = await startWorld();
		const channel = named(world, "general");
		world.simulator.world.setOverwrite(channel, {
			id: world.simulator.bot("alpha").id,
			type: 1,
			allow: "0",
			deny: String(ViewChannel),
		});
		await world.heard();
		const { text, isError } = await world.call("edit_channel", {
			channel_id: channel.id,
			topic: "x",
		});
		expect(isError).toBe(true);
		expect(text).toStartWith(
			`The bot lacks VIEW_CHANNEL in #general (ID: ${channel.id}). The owner, or anyone with MANAGE_ROLES`,
		);
	});
});

describe("set_channel_permissions", () => {
	/** Sets permissions of Regular in general, and gives what general then says of it. */
	function setter(world: TestWorld, target = roleNamed(world, "Regular").id) {
		const channel = named(world, "general");
		return async (args: object) => {
			const outcome = await world.call("set_channel_permissions", {
				channel_id: channel.id,
				target_type: "role",
				target_id: target,
				...args,
			});
			const overwrite = channel.permission_overwrites.find(
				({ id }) => id === target,
			);
			return {
				...outcome,
				allow: BigInt(overwrite?.allow ?? -1),
				deny: BigInt(overwrite?.deny ?? -1),
			};
		};
	}

	test("replaces what was there, or merges, and says what has changed by name", async () => {
		await using world = await startWorld();
		const set = setter(world);
		const first = await set({
			allow: String(ViewChannel),
			allow_names: ["SPEAK"],
			deny_names: ["send_messages "],
		});
		expect(first).toMatchObject({
			allow: ViewChannel | Speak,
			deny: SendMessages,
		});
		const merged = await set({ allow_names: ["SEND_MESSAGES"], merge: true });
		expect(merged).toMatchObject({
			allow: ViewChannel | Speak | SendMessages,
			deny: 0n,
		});
		expect(merged.text.split("\n").slice(1)).toEqual([
			"Newly allowed: SEND_MESSAGES",
			"Newly denied: none",
			"No longer allowed: none",
			"No longer denied: SEND_MESSAGES",
		]);
		const replaced = await set({ deny: String(Connect) });
		expect(replaced).toMatchObject({ allow: 0n, deny: Connect });
		expect(replaced.text.split("\n").slice(1)).toEqual([
			"Newly allowed: none",
			"Newly denied: CONNECT",
			"No longer allowed: VIEW_CHANNEL, SEND_MESSAGES, SPEAK",
			"No longer denied: none",
		]);
		expect(await set({ allow: "0" })).toMatchObject({ allow: 0n, deny: 0n });
	});

	test("sets those of a member, and refuses somebody who is none or is called a role", async () => {
		await using world = await startWorld();
		const zoe = world.simulator.user("zoe").id;
		const set = setter(world, zoe);
		const { text, deny } = await set({
			target_type: "member",
			deny_names: ["SEND_MESSAGES"],
		});
		expect(deny).toBe(SendMessages);
		expect(text).toStartWith(
			`Set the permissions of Zoë 🍞 (@zoe, ID: ${zoe}) in #general`,
		);
		await expect(
			world.simulator.user("zoe").say("The Cooks/general", "x"),
		).rejects.toThrow();
		const before = writes(world).length;
		expect((await set({ deny: "1" })).text).toContain(
			`There is no role ${zoe}`,
		);
		const bob = setter(world, world.simulator.user("bob_the_baker").id);
		expect((await bob({ target_type: "member", deny: "1" })).text).toContain(
			"is a member of the guild",
		);
		expect((await set({ target_type: "user", deny: "1" })).text).toContain(
			"target_type: expected",
		);
		expect(writes(world)).toHaveLength(before);
	});

	test.each([
		[{}, "expected at least one of these"],
		[{ allow: "-1" }, "allow: expected a decimal number"],
		[{ allow: "0x400" }, "allow: expected a decimal number"],
		[{ deny: "" }, "deny: expected a decimal number"],
		[{ deny: 1024 }, "deny: expected string"],
		[
			{ allow: String(1n << 47n) },
			`allow: Discord has no permission for the bits ${1n << 47n}`,
		],
		[
			{ deny: "99999999999999999999" },
			"deny: Discord has no permission for the bits",
		],
		[
			{ allow_names: ["SEND_MESAGES"] },
			'allow_names: Discord has no permission "SEND_MESAGES"',
		],
		[{ deny_names: ["constructor"] }, "deny_names: Discord has no permission"],
		[
			{ allow: String(SendMessages | Speak), deny_names: ["SEND_MESSAGES"] },
			"allow, deny: SEND_MESSAGES cannot be both",
		],
		[
			{ allow: "2048", deny: "2048", merge: true },
			"allow, deny: SEND_MESSAGES cannot be both",
		],
	])("refuses %j before Discord sees it", async (args, fault) => {
		await using world = await startWorld();
		const { code, text, allow } = await setter(world)(args);
		expect(code).toBe(-32602);
		expect(text).toContain(fault);
		expect(allow).toBe(-1n);
		expect(writes(world)).toEqual([]);
	});

	test("refuses what would change nothing", async () => {
		await using world = await startWorld();
		const set = setter(world);
		for (const args of [
			{ allow: "0" },
			{ allow_names: [], merge: true },
			{ deny_names: [], allow_names: [] },
		])
			expect((await set(args)).text).toStartWith("Nothing would change: ");
		await set({ allow_names: ["SPEAK"], deny_names: ["CONNECT"] });
		const before = writes(world).length;
		const same = { allow_names: ["SPEAK"], merge: true };
		expect((await set(same)).text).toStartWith("Nothing would change: ");
		expect(
			(await set({ ...same, merge: false, deny_names: ["CONNECT"] })).isError,
		).toBe(true);
		expect(writes(world)).toHaveLength(before);
	});

	test("refuses bits that the bot lacks before Discord sees them, also to take away", async () => {
		await using world = await startWorld();
		const set = setter(world);
		const regular = roleNamed(world, "Regular").id;
		for (const args of [
			{ allow_names: ["PRIORITY_SPEAKER"] },
			{ deny_names: ["PRIORITY_SPEAKER"] },
		]) {
			const { text } = await set(args);
			expect(text).toContain("it lacks PRIORITY_SPEAKER");
			expect(text).toContain("The owner, or anyone with MANAGE_ROLES");
		}
		world.simulator.world.setOverwrite(named(world, "general"), {
			id: regular,
			type: 0,
			allow: String(PrioritySpeaker),
			deny: "0",
		});
		expect((await set({ deny_names: ["SPEAK"] })).text).toContain(
			"it lacks PRIORITY_SPEAKER",
		);
		const { text } = await set({ allow: String(ManageRoles), merge: true });
		expect(text).toContain(
			"Only an administrator can allow or deny MANAGE_ROLES",
		);
		expect(writes(world)).toEqual([]);
		// What the bot lacks and leaves as it is does not matter.
		const merged = await set({ deny_names: ["SPEAK"], merge: true });
		expect(merged).toMatchObject({ allow: PrioritySpeaker, deny: Speak });
	});

	test("a bot that the channel lets manage permissions can set any, and one that the category lets have one, that one", async () => {
		await using world = await startWorld();
		const { world: platform } = world.simulator;
		const me = {
			id: world.simulator.bot("alpha").id,
			type: 1,
			deny: "0",
		} as const;
		const set = setter(world);
		platform.setOverwrite(named(world, "Talk"), {
			...me,
			allow: String(PrioritySpeaker),
		});
		await world.heard();
		expect((await set({ allow_names: ["PRIORITY_SPEAKER"] })).allow).toBe(
			PrioritySpeaker,
		);
		expect((await set({ allow_names: ["MANAGE_GUILD"] })).isError).toBe(true);
		platform.setOverwrite(named(world, "general"), {
			...me,
			allow: String(ManageRoles),
		});
		await world.heard();
		expect((await set({ allow_names: ["MANAGE_GUILD"] })).isError).toBe(false);
	});

	test("merges at the same time lose nothing of one another", async () => {
		await using world = await startWorld();
		const set = setter(world);
		const names = [
			"SPEAK",
			"CONNECT",
			"SEND_MESSAGES",
			"VIEW_CHANNEL",
			"ADD_REACTIONS",
			"EMBED_LINKS",
		];
		const outcomes = await Promise.all(
			names.map((name) => set({ allow_names: [name], merge: true })),
		);
		for (const { isError } of outcomes) expect(isError).toBe(false);
		const overwrite = named(world, "general").permission_overwrites[0];
		const bits = BigInt(overwrite?.allow ?? 0);
		expect(bits.toString(2).replaceAll("0", "")).toHaveLength(names.length);
	});

	test("merges one after the other lose nothing of one another", async () => {
		await using world = await startWorld();
		const set = setter(world);
		// Nobody tells the bot of its own changes meanwhile, nor of what somebody else does.
		world.simulator.sockets.holdEvents(true);
		for (const name of ["SPEAK", "CONNECT", "VIEW_CHANNEL"])
			await set({ deny_names: [name], merge: true });
		const { allow, deny } = await set({ allow_names: ["SPEAK"], merge: true });
		expect({ allow, deny }).toEqual({
			allow: Speak,
			deny: Connect | ViewChannel,
		});
	});
});
