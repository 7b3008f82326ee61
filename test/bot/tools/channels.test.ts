// The channel tools.

import { describe, expect, test } from "bun:test";
import { ChannelType, PermissionFlagsBits } from "discord.js";
import type { GuildChannel } from "../../../src/simulator/world/state/entities.ts";
import { shareWorld } from "../../support/shared-world.ts";
import { testWith } from "../../support/test-with.ts";
import {
	channelNamed,
	denyBot,
	makeCommunity,
	memberNamed,
	memberOverwrite,
	roleNamed,
	roleOverwrite,
	startWorld,
	type TestWorld,
	userNamed,
	worldTest,
	writes,
} from "../../support/world.ts";

const shared = shareWorld();

const { Connect, ManageChannels, PrioritySpeaker, SendMessages, ViewChannel } = PermissionFlagsBits;
const create = "POST /guilds/:guild_id/channels";

describe("create_channel", () => {
	test.each([
		[
			"text",
			ChannelType.GuildText,
			{ topic: "t", nsfw: true, slowmode: "6h" },
			["topic: t | age-restricted: yes | slow mode: 21600 s"],
		],
		["voice", ChannelType.GuildVoice, { user_limit: 99, nsfw: true }, ["age-restricted: yes | user limit: 99"]],
		["category", ChannelType.GuildCategory, {}, []],
		[
			"forum",
			ChannelType.GuildForum,
			{ topic: "t".repeat(4096), slowmode: "5s" },
			[`topic: ${"t".repeat(80)}… | slow mode: 5 s`],
		],
		["stage", ChannelType.GuildStageVoice, { user_limit: 10_000 }, ["user limit: 10000"]],
		["announcement", ChannelType.GuildAnnouncement, { topic: "", nsfw: false }, ["topic: none | age-restricted: no"]],
	] as const)("makes a %s channel with all its fields", async (channel_type, type, fields, settings) => {
		const world = await shared();
		await makeCommunity(world);
		const { text, isError } = await world.call("create_channel", {
			name: `a-${channel_type}`,
			channel_type,
			...fields,
		});
		const channel = channelNamed(world, `a-${channel_type}`);
		const [first, ...lines] = text.split("\n");
		expect(first).toStartWith(`Created the ${channel_type} channel #a-${channel_type} (ID: ${channel.id})`);
		expect(lines).toEqual([...settings, "For @everyone: public."]);
		expect(isError).toBe(false);
		const { topic, slowmode, ...same } = { topic: undefined, slowmode: undefined, ...fields };
		expect(channel).toMatchObject({
			type,
			...same,
			topic: topic || null,
			rate_limit_per_user: slowmode === undefined ? 0 : slowmode === "6h" ? 21_600 : 5,
			permission_overwrites: [],
		});
	});

	worldTest.each(["stage", "announcement"])(
		"refuses to make or clone a %s channel in a guild that is no community",
		async (world, channel_type) => {
			const { channels, guilds } = world.simulator.world;
			const type = channel_type === "stage" ? ChannelType.GuildStageVoice : ChannelType.GuildAnnouncement;
			const { id } = channels.add(world.guild, { name: "old", type });
			await world.heard();
			const make = { name: "fresh", channel_type };
			for (const { text } of [
				await world.call("create_channel", make),
				await world.call("clone_channel", { channel_id: id }),
			])
				expect(text).toBe(
					`Discord allows ${channel_type} channels only in communities, and the guild ${world.guild.id} is not one. An administrator can enable Community in the guild's settings. Nothing was done.`,
				);
			expect(writes(world)).toEqual([]);
			guilds.edit(world.guild, { features: ["NEWS"] });
			await world.heard();
			const { isError } = await world.call("create_channel", make);
			expect(isError).toBe(channel_type === "stage");
		},
	);

	worldTest("the kind is text by default, in any case, and the name as Discord normalized it", async (world) => {
		const { text } = await world.call("create_channel", { name: "Fresh Fish" });
		expect(text).toStartWith("Created the text channel #fresh-fish (ID: ");
		expect(channelNamed(world, "fresh-fish").type).toBe(ChannelType.GuildText);
		const voice = await world.call("create_channel", { name: "fresh", channel_type: "Voice" });
		expect(voice.text).toStartWith("Created the voice channel");
	});

	worldTest("puts it into a category", async (world) => {
		const talk = channelNamed(world, "Talk");
		const { text } = await world.call("create_channel", { name: "fresh", category_id: talk.id });
		expect(channelNamed(world, "fresh").parent_id).toBe(talk.id);
		const staff = channelNamed(world, "staff");
		expect(text).toEndWith(
			` in #Talk (ID: ${talk.id}), below #staff (ID: ${staff.id}).\nFor @everyone: public, as in its category.`,
		);
		world.simulator.world.channels.add(world.guild, {
			name: "Vault",
			type: ChannelType.GuildCategory,
			permission_overwrites: [
				{ id: world.guild.id, type: 0, allow: "0", deny: String(PermissionFlagsBits.SendMessages) },
			],
		});
		await world.heard();
		const vault = channelNamed(world, "Vault");
		const first = await world.call("create_channel", { name: "first", category_id: vault.id });
		expect(first.text).toEndWith(` in #Vault (ID: ${vault.id}).\nFor @everyone: read-only, as in its category.`);
	});

	worldTest("creates a private channel in one call, and the bot still sees it", async (world) => {
		const { simulator, guild } = world;
		const staff = roleNamed(world, "Staff");
		const { isError } = await world.call("create_channel", {
			name: "secret",
			category_id: channelNamed(world, "Talk").id,
			view_role_ids: [staff.id, staff.id],
		});
		expect(isError).toBe(false);
		expect(writes(world)).toHaveLength(1);
		const channel = channelNamed(world, "secret");
		expect(channel.permission_overwrites).toEqual([
			{ id: guild.id, type: 0, allow: "0", deny: String(ViewChannel) },
			{ id: staff.id, type: 0, allow: String(ViewChannel), deny: "0" },
			{ id: simulator.bot("alpha").id, type: 1, allow: String(ViewChannel), deny: "0" },
		]);
		await expect(simulator.user("zoe").say("secret", "x")).rejects.toThrow();
		await simulator.user("jose.garcia").say("secret", "hello");
		await world.expectResult("send_message", { channel_id: channel.id, content: "hello" });
	});

	worldTest("category_id must be a category", async (world) => {
		const { id } = channelNamed(world, "general");
		const { text } = await world.call("create_channel", { name: "fresh", category_id: id });
		expect(text).toBe(`#general (ID: ${id}) is not a category. Use list_channels to find categories.`);
		expect(writes(world)).toEqual([]);
	});
});

describe("edit_channel", () => {
	test.each([
		["name", "New", { name: "new" }, "name: general → new"],
		["topic", "a", { topic: "a" }, "topic: Everything and nothing → a"],
		["topic", "", { topic: null }, "topic: Everything and nothing → none"],
		["nsfw", true, { nsfw: true }, "age-restricted: no → yes"],
		["slowmode", "1m", { rate_limit_per_user: 60 }, "slow mode: 0 → 60 s"],
		["category_id", "", { parent_id: null }, "category: #Talk → none"],
	])("changes %s to %j and nothing else", async (...row) => {
		const [field, value, expected, said] = row;
		await using world = await startWorld();
		const channel = channelNamed(world, "general");
		const before = structuredClone(channel);
		const { text, isError } = await world.call("edit_channel", { channel_id: channel.id, [field]: value });
		expect({ text: text.replace(/ \(ID: \d+\) →/, " →"), isError }).toEqual({
			text: `Changed #${channel.name} (ID: ${channel.id}):\n${said}`,
			isError: false,
		});
		expect(channel).toEqual({ ...before, ...expected });
		const [entry] = world.simulator.journal.entries();
		expect(Object.keys(entry?.body as object)).toEqual(Object.keys(expected));
	});

	worldTest("moves a channel into another category", async (world) => {
		const { world: platform } = world.simulator;
		const type = ChannelType.GuildCategory;
		const attic = platform.channels.add(world.guild, { name: "Attic", type });
		const channel = channelNamed(world, "general");
		await world.call("edit_channel", { channel_id: channel.id, category_id: attic.id });
		expect(channel.parent_id).toBe(attic.id);
	});

	worldTest("sends only what differs", async (world) => {
		const { id: channel_id } = channelNamed(world, "general");
		const { text } = await world.call("edit_channel", {
			channel_id,
			name: "general",
			topic: "Everything and nothing",
			nsfw: true,
		});
		expect(text).toEndWith(":\nage-restricted: no → yes");
		expect(world.simulator.journal.entries()).toMatchObject([{ body: { nsfw: true } }]);
	});

	worldTest("refuses an edit without a change", async (world) => {
		const { id: channel_id, parent_id } = channelNamed(world, "general");
		const same = await world.expectError("edit_channel", {
			channel_id,
			name: "general",
			slowmode: "off",
			category_id: parent_id,
		});
		expect(same).toStartWith(
			`Nothing would change: #general (ID: ${channel_id}) already has the given name, slowmode, category_id.`,
		);
		expect(writes(world)).toEqual([]);
	});

	worldTest("does not report a change if Discord normalizes the new name to the old one", async (world) => {
		const { id: channel_id } = channelNamed(world, "general");
		const text = await world.expectError("edit_channel", { channel_id, name: "General" });
		expect(text).toStartWith("Nothing changed: ");
	});

	worldTest("consecutive edits build on one another, however late their events are", async (world) => {
		const channel = channelNamed(world, "general");
		world.simulator.sockets.holdEvents(true);
		const topics = ["A", "B", "A", "B", "A", "A"];
		const answers = [];
		for (const topic of topics) answers.push(await world.call("edit_channel", { channel_id: channel.id, topic }));
		expect(answers.map(({ isError }) => isError)).toEqual([...Array(5).fill(false), true]);
		expect(channel.topic).toBe("A");
	});

	worldTest("concurrent edits of different fields do not undo one another", async (world) => {
		const channel = channelNamed(world, "general");
		const edits = [{ name: "new" }, { topic: "new" }, { nsfw: true }, { slowmode: "7s" }, { category_id: "" }];
		await Promise.all(edits.map((edit) => world.call("edit_channel", { channel_id: channel.id, ...edit })));
		expect(channel).toMatchObject({ name: "new", topic: "new", nsfw: true, rate_limit_per_user: 7, parent_id: null });
	});

	worldTest("a channel that the bot cannot see is refused with what is missing and who can grant it", async (world) => {
		const channel = channelNamed(world, "general");
		await denyBot(world, channel, ViewChannel);
		const text = await world.expectError("edit_channel", { channel_id: channel.id, topic: "x" });
		expect(text).toStartWith(
			`The bot lacks VIEW_CHANNEL in a channel that the bot cannot see (ID: ${channel.id}). The owner, or anyone with MANAGE_ROLES`,
		);
	});
});

/** Adds a channel. */
function added(
	{ simulator, guild }: TestWorld,
	given: Parameters<typeof simulator.world.channels.add>[1],
): GuildChannel {
	return simulator.world.channels.add(guild, given);
}

describe("list_channels", () => {
	worldTest("lists channels as clients show them: by category and position, voice below text", async (world) => {
		const first = added(world, { name: "first", type: ChannelType.GuildCategory, position: -1 });
		added(world, { name: "loose", position: 9 });
		added(world, { name: "loud", type: ChannelType.GuildVoice, position: 0 });
		added(world, { name: "late", parent_id: first.id, position: 7 });
		added(world, { name: "early", parent_id: first.id, position: 6 });
		await world.heard();
		const { text } = await world.call("list_channels");
		const lines = text.split("\n");
		expect(lines[0]).toBe("9 channel(s), from the top, categories above their channels:");
		expect(lines.slice(1).map((line) => line.split(" | ")[0])).toEqual([
			"#loose",
			"#loud",
			"#first",
			"#early",
			"#late",
			"#Talk",
			"#general",
			"#staff",
			"#Lounge",
		]);
		const only = await world.call("list_channels", { category_id: first.id });
		expect(only.text.split("\n")).toEqual([
			`3 channel(s) in #first (ID: ${first.id}), including itself, from the top, categories above their channels:`,
			...lines.slice(3, 6),
		]);
	});

	worldTest(
		"finds channels in which nobody wrote, in threads neither, and shows the day of the last message",
		async (world) => {
			const { simulator, guild } = world;
			const { state, channels, threads, messages } = simulator.world;
			const ada = userNamed(world, "ada");
			const box = added(world, { name: "box", type: ChannelType.GuildCategory });
			const inBox = (name: string, more: object = {}) => added(world, { name, parent_id: box.id, ...more });
			const [quiet, busy, discussed, shelved] = ["quiet", "busy", "discussed", "shelved"].map((name) => inBox(name));
			if (!quiet || !busy || !discussed || !shelved) throw new Error("all were added");
			inBox("posts", { type: ChannelType.GuildForum });
			messages.add(quiet, ada, { content: "long ago", id: state.newId(Date.UTC(2020, 1, 29)) });
			const active = threads.add(discussed, ada, { name: "talk" });
			// The bot has not heard of it.
			const shelf = { ...active, id: state.newId(), parent_id: shelved.id };
			guild.threads.set(shelf.id, shelf);
			state.channels.set(shelf.id, shelf);
			const silent_since = state.newId();
			messages.add(busy, ada, { content: "now" });
			messages.add(active, ada, { content: "now" });
			messages.add(shelf, ada, { content: "now" });
			shelf.archived = true;
			inBox("new");
			await world.heard();
			const list = async (args: object) =>
				(await world.call("list_channels", { category_id: box.id, ...args })).text.split("\n");
			const [head, ...lines] = await list({ silent_since });
			expect(head).toMatch(
				/^2 channel\(s\) in #box \(ID: \d+\), including itself in which nobody wrote since \S+Z, also not in threads, from the top:$/,
			);
			expect(lines).toEqual([
				`#quiet | ID: ${quiet.id} | text | last message: 2020-02-29`,
				expect.stringMatching(/^#posts \| ID: \d+ \| forum$/),
			]);
			const all = await list({});
			for (const name of ["busy", "discussed"])
				expect(all).toContainEqual(expect.stringMatching(new RegExp(`^#${name} .* \\| last message: \\d{4}-`)));
			expect((await list({ silent_since: "7d" }))[0]).toStartWith("The guild has no channels in #box");
			simulator.faults.refuse(`GET /channels/${shelved.id}/threads/archived/public`, 50001);
			const everywhere = await world.call("list_channels", { silent_since });
			expect(everywhere.text).toMatch(/\n#quiet \| ID: \d+ \| text \| in box \| last message: 2020-02-29\n/);
			expect((await list({ silent_since })).at(-1)).toBe(
				`Not all archived threads could be read in: #shelved (ID: ${shelved.id}).`,
			);
			channels.remove(box);
		},
	);

	worldTest("shows kind, topic, limits, and who does not see it or write in it", async (world) => {
		const { id: parent_id } = channelNamed(world, "Talk");
		const channel = added(world, {
			name: "a|b",
			parent_id,
			nsfw: true,
			rate_limit_per_user: 5,
			topic: "😀".repeat(81),
			permission_overwrites: [
				{ id: world.guild.id, type: 0, allow: "0", deny: String(ViewChannel) },
				{ id: world.simulator.bot("alpha").id, type: 1, allow: String(ViewChannel), deny: "0" },
			],
		});
		await world.heard();
		const { text } = await world.call("list_channels");
		expect(text.split("\n")).toContain(
			`#a\\|b | ID: ${channel.id} | text | private | topic: ${"😀".repeat(80)}… | nsfw | slow mode: 5 s`,
		);
		const general = channelNamed(world, "general");
		expect(text.split("\n")).toContain(`#general | ID: ${general.id} | text | topic: Everything and nothing`);
		const news = added(world, { name: "news", parent_id });
		const lounge = channelNamed(world, "Lounge");
		world.simulator.world.channels.edit(lounge, { user_limit: 7 });
		for (const [{ id }, bits] of [
			[news, SendMessages],
			[lounge, Connect],
		] as const)
			world.simulator.world.channels.setOverwrite(
				id === news.id ? news : lounge,
				roleOverwrite(world.guild.id, { deny: bits }),
			);
		await world.heard();
		const later = (await world.call("list_channels")).text.split("\n");
		expect(later).toContain(`#news | ID: ${news.id} | text | read-only`);
		expect(later).toContain(`#Lounge | ID: ${lounge.id} | voice | private | limit: 7`);
	});

	worldTest("a guild without channels gets a sentence", async (world) => {
		for (const channel of [...world.guild.channels.values()]) world.simulator.world.channels.remove(channel);
		await world.heard();
		const { text } = await world.call("list_channels");
		expect(text).toBe("The guild has no channels.");
	});
});

worldTest("get_channel shows the fields of a voice channel", async (world) => {
	const lounge = channelNamed(world, "Lounge");
	const talk = channelNamed(world, "Talk");
	world.simulator.world.channels.edit(lounge, {
		bitrate: 8000,
		user_limit: 7,
		rtc_region: "rotterdam",
		permission_overwrites: [{ id: world.guild.id, type: 0, allow: "0", deny: String(SendMessages) }],
	});
	await world.heard();
	const { text } = await world.call("get_channel", { channel_id: lounge.id });
	expect(text.split("\n")).toEqual([
		`#Lounge (ID: ${lounge.id}), voice`,
		`category: #Talk (ID: ${talk.id})`,
		"topic: none",
		"age-restricted: no",
		"slow mode: 0 s",
		expect.stringMatching(/^created: \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
		"position: 0",
		"bitrate: 8000 bit/s",
		"user limit: 7",
		"region: rotterdam",
		"permissions as in the category: no",
		"permissions of its own: for 1 role(s) and member(s), shown by list_channel_permissions",
	]);
});

worldTest("a voice channel without a bitrate is shown and edited", async (world) => {
	const { world: platform, faults } = world.simulator;
	const lounge = platform.channels.add(world.guild, { name: "lounge" });
	Reflect.deleteProperty(lounge, "bitrate");
	platform.channels.edit(lounge, { type: ChannelType.GuildVoice });
	await world.heard();
	for (const match of ["GET /channels/*", "PATCH /channels/*"])
		faults.rewrite(match, ({ body = "", ...answer }) => ({ ...answer, body: body.replace(/"bitrate":\d+,/, "") }));
	const args = { channel_id: lounge.id };
	const shown = await world.call("get_channel", args);
	expect(shown.text).toContain("\nbitrate: unknown\n");
	const rates = { bitrate: 8000, user_limit: 7 };
	const edited = await world.call("edit_channel", { ...args, ...rates });
	expect(edited.text).toEndWith(":\nbitrate: unknown → 8000 bit/s\nuser limit: none → 7");
	expect(lounge).toMatchObject(rates);
});

describe("delete_channel", () => {
	worldTest("a category's channels stay, and the dry run names them", async (world) => {
		const talk = channelNamed(world, "Talk");
		for (const name of ["fourth", "fifth", "sixth"])
			world.simulator.world.channels.add(world.guild, { name, parent_id: talk.id });
		await world.heard();
		const args = { channel_id: talk.id };
		const dry = await world.call("delete_channel", { ...args, dry_run: true });
		expect(dry.text.split("\n").slice(1)).toEqual([
			`Would delete the category channel #Talk (ID: ${talk.id}). The 6 channel(s) in it stay, without a category.`,
			expect.stringContaining("#general | ID: "),
			expect.stringContaining("#staff | ID: "),
			...["fourth", "fifth", "sixth", "Lounge"].map((name) => expect.stringContaining(`#${name} | ID: `)),
		]);
		const { text } = await world.call("delete_channel", args);
		expect(text).toStartWith("Deleted the category channel #Talk");
		expect(channelNamed(world, "general").parent_id).toBeNull();
		await world.heard();
		const again = await world.call("delete_channel", args);
		expect(again.text).toContain("There is no channel");
	});

	worldTest("the dry run counts the active threads in it, and no others", async (world) => {
		const general = channelNamed(world, "general");
		const staff = channelNamed(world, "staff");
		for (const [channel, name] of [[general, "one"] as const, [general, "two"] as const, [staff, "elsewhere"] as const])
			await world.call("create_thread", { channel_id: channel.id, name });
		const { text } = await world.call("delete_channel", { channel_id: general.id, dry_run: true });
		expect(text).toEndWith("with everything in it. 2 of its threads are active.");
	});

	worldTest("the dry run counts who would be disconnected", async (world) => {
		const lounge = channelNamed(world, "Lounge");
		const zoe = memberNamed(world, "zoe");
		world.simulator.world.voice.join(lounge, zoe);
		await world.heard();
		const { text } = await world.call("delete_channel", { channel_id: lounge.id, dry_run: true });
		expect(text).toEndWith("1 member(s) in it would be disconnected.");
	});
});

worldTest("a media channel is listed by its kind, edited as a forum is, moved and deleted", async (world) => {
	const { id: channel_id } = added(world, { name: "pictures", type: 16 });
	await world.heard();
	const listed = await world.call("list_channels");
	expect(listed.text).toMatch(new RegExp(`^#pictures \\| ID: ${channel_id} \\| media`, "m"));
	const edit = { channel_id, name: "photos", topic: "t".repeat(4096) };
	const talk = channelNamed(world, "Talk").id;
	expect((await world.call("edit_channel", edit)).text).toMatch(
		/^Changed #photos \(ID: \d+\):\nname: pictures → photos\ntopic: none → t+…$/,
	);
	expect((await world.call("move_channels", { channel_ids: [channel_id], category_id: talk })).text).toMatch(
		/\nIn #Talk \(ID: \d+\), from the top: .*, #photos \(ID: \d+\)$/,
	);
	const dry = await world.call("delete_channel", { channel_id, dry_run: true });
	expect(dry.text).toContain("Would delete the media channel #photos");
	expect((await world.call("delete_channel", { channel_id })).isError).toBe(false);
	expect(world.guild.channels.has(channel_id)).toBe(false);
});

describe("moving one channel", () => {
	/** Channels a, b, c and d in no category, at these positions, and their order in the simulator. */
	async function row(positions = [0, 1, 2, 3]) {
		const world = await startWorld();
		const names = ["a", "b", "c", "d"];
		for (const [index, name] of names.entries()) added(world, { name, position: positions[index] });
		await world.heard();
		const order = (parent: string | null = null) =>
			[...world.guild.channels.values()]
				.filter(({ type, parent_id }) => type === 0 && parent_id === parent)
				.sort((a, b) => a.position - b.position || Number(a.id) - Number(b.id))
				.map(({ name }) => name)
				.join("");
		const move = (name: string, args: object) =>
			world.call("move_channels", { channel_ids: [channelNamed(world, name).id], ...args });
		return { world, order, move, [Symbol.asyncDispose]: world[Symbol.asyncDispose] };
	}

	const rowTest = testWith(row);

	rowTest.each([
		["d", 0, "dabc"],
		["a", 2, "bcad"],
		["a", 500, "bcda"],
		["a", 1e9, "bcda"],
		["b", 2, "acbd"],
	])("moves %s to %d among its kind: %s", async (scene, name, position, expected) => {
		const { text } = await scene.move(name, { position });
		expect(scene.order()).toBe(expected);
		const { id } = channelNamed(scene.world, name);
		const order = [...expected].map((one) => (one === name ? `#${one} (ID: ${id})` : `#${one}`)).join(", ");
		expect(text).toBe(`Moved 1 channel(s).\nIn no category, from the top: ${order}`);
	});

	test.each([[[5, 5, 5, 5]], [[9, 0, 9, 0]], [[3, 2, 1, 0]]])(
		"works with any initial positions: %j",
		async (positions) => {
			await using scene = await row(positions);
			const before = scene.order();
			const [first = ""] = before;
			await scene.move(first, { position: 2 });
			const rest = before.slice(1);
			expect(scene.order()).toBe(rest.slice(0, 2) + first + rest.slice(2));
		},
	);

	rowTest("changes only the positions of channels that must move", async (scene) => {
		await scene.move("b", { position: 2 });
		const [entry] = scene.world.simulator.journal.entries();
		expect(entry?.body).toEqual([
			{ id: channelNamed(scene.world, "c").id, position: 1 },
			{ id: channelNamed(scene.world, "b").id, position: 2 },
		]);
	});

	rowTest(
		"moves into another category, to its end or to a place, with one change of category",
		async ({ world, order, move }) => {
			const { id: category_id } = channelNamed(world, "Talk");
			const last = await move("a", { category_id });
			expect(last.text).toStartWith(
				`Moved 1 channel(s), 1 of them from elsewhere.\nIn #Talk (ID: ${category_id}), from the top: #general, #staff, #a (ID: `,
			);
			expect(order(category_id)).toBe("generalstaffa");
			await move("b", { category_id, position: 0 });
			expect(order(category_id)).toBe("bgeneralstaffa");
			expect(order()).toBe("cd");
			await move("general", { category_id: "" });
			expect(order(category_id)).toBe("bstaffa");
			for (const { body } of world.simulator.journal.entries())
				expect((body as object[]).filter((one) => "parent_id" in one)).toHaveLength(1);
		},
	);

	rowTest("lock_permissions needs another category", async ({ world, move }) => {
		const talk = channelNamed(world, "Talk");
		await move("a", { category_id: talk.id });
		const here = await move("a", { category_id: talk.id, lock_permissions: true });
		expect(here.code).toBe(-32602);
		expect(here.text).toContain("copy_channel_permissions with {");
	});

	rowTest("refuses calls that change nothing, have no arguments, or are impossible", async ({ world, move }) => {
		const { id: category_id } = channelNamed(world, "Talk");
		const same = await move("b", { position: 1 });
		expect(same.text).toBe(
			`Nothing would change: the channels are already in this order. In no category, from the top: #a, #b (ID: ${channelNamed(world, "b").id}), #c, #d. Nothing was done.`,
		);
		expect((await move("b", { category_id: "" })).isError).toBe(true);
		expect((await move("general", { category_id })).isError).toBe(true);
		expect((await move("b", {})).code).toBe(-32602);
		expect((await move("Talk", { category_id })).code).toBe(-32602);
		expect((await move("b", { category_id: channelNamed(world, "a").id })).text).toContain("is not a category");
		expect(writes(world)).toEqual([]);
	});

	rowTest("concurrent moves do not undo one another", async ({ world, order, move }) => {
		world.simulator.sockets.holdEvents(true);
		const guild_id = world.guild.id;
		await Promise.all([move("d", { position: 0 }), move("c", { position: 0, guild_id }), move("b", { position: 0 })]);
		expect(order().at(-1)).toBe("a");
		expect([...order()].sort().join("")).toBe("abcd");
		const positions = new Set([..."abcd"].map((name) => channelNamed(world, name).position));
		expect(positions.size).toBe(4);
	});

	rowTest("requires the permissions that it would copy", async ({ world, move }) => {
		const talk = channelNamed(world, "Talk");
		world.simulator.world.channels.setOverwrite(talk, roleOverwrite(world.guild.id, { allow: PrioritySpeaker }));
		await world.heard();
		const { text } = await move("a", { category_id: talk.id, lock_permissions: true });
		expect(text).toContain("it lacks PRIORITY_SPEAKER");
		expect(writes(world)).toEqual([]);
	});
});

describe("clone_channel", () => {
	worldTest("copies category, fields and permissions, but no messages", async (world) => {
		const staff = channelNamed(world, "staff");
		world.simulator.world.channels.edit(staff, { topic: "t", nsfw: true, rate_limit_per_user: 7 });
		await world.simulator.user("jose.garcia").say("The Cooks/staff", "hello");
		const { text } = await world.call("clone_channel", { channel_id: staff.id, name: "crew" });
		const crew = channelNamed(world, "crew");
		expect(text).toBe(`Created #crew (ID: ${crew.id}), a clone of #staff (ID: ${staff.id}).`);
		const { id: _, last_message_id: __, name: ___, ...same } = staff;
		expect(crew).toMatchObject(same);
		expect(world.simulator.channel("The Cooks/crew").transcript()).toBe("");
	});

	worldTest("requires MANAGE_CHANNELS in the guild, even if the channel allows it", async (world) => {
		const { simulator, guild } = world;
		const general = channelNamed(world, "general");
		const alpha = roleNamed(world, "alpha");
		simulator.world.roles.edit(guild, alpha, { permissions: String(BigInt(alpha.permissions) & ~ManageChannels) });
		simulator.world.channels.setOverwrite(
			general,
			memberOverwrite(simulator.bot("alpha").id, { allow: ManageChannels }),
		);
		await world.heard();
		const { text } = await world.call("clone_channel", { channel_id: general.id });
		expect(text).toStartWith(`The bot lacks MANAGE_CHANNELS in the guild ${guild.id} as a whole.`);
		await world.expectResult("edit_channel", { channel_id: general.id, topic: "x" });
	});

	worldTest.each([
		[Connect, false, ""],
		[PrioritySpeaker, true, "it lacks PRIORITY_SPEAKER"],
		[PermissionFlagsBits.ManageRoles, true, "Only an administrator"],
	])("a permission %d that the clone would have is refused: %p", async (world, bits, refused, said) => {
		const general = channelNamed(world, "general");
		world.simulator.world.channels.setOverwrite(general, roleOverwrite(world.guild.id, { allow: bits }));
		await world.heard();
		const { text, isError } = await world.call("clone_channel", { channel_id: general.id });
		expect(isError).toBe(refused);
		expect(text).toContain(said);
		expect(world.simulator.requests.list(create)).toHaveLength(refused ? 0 : 1);
	});
});
