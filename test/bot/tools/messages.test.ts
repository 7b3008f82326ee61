// send_message and delete_messages.

import { expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { generousLimits } from "../../../src/simulator/rest/rate-limits.ts";
import { demoSeed } from "../../../src/simulator/seed.ts";
import type { GuildChannel } from "../../../src/simulator/world/state/entities.ts";
import {
	channelNamed,
	denyBot,
	linked,
	roleNamed,
	startWorld,
	type TestWorld,
	userNamed,
	worldTest,
} from "../../support/world.ts";

const messages = "POST /channels/:channel_id/messages";
const bulk = "POST /channels/:channel_id/messages/bulk-delete";
const single = "DELETE /channels/:channel_id/messages/:message_id";
const general = "The Cooks/general";
const dayMs = 86_400_000;

worldTest("send_message writes once, pings nobody, and returns the message's id", async (world) => {
	const { simulator } = world;
	const { id: channel_id } = simulator.channel(general);
	const { id: ada } = simulator.user("ada");
	const content = `@everyone <@${ada}> <@${ada}>`;
	const text = await world.expectResult("send_message", { channel_id, content });
	expect(simulator.journal.entries(messages)).toHaveLength(1);
	const [message] = simulator.world.messages.in(channel_id);
	expect(text).toBe(
		`Message sent (ID: ${message?.id}) to ${linked(world, channelNamed(world, "general"), message?.id)}\nNot pinged: @everyone, @ada.`,
	);
	expect(message).toMatchObject({ content, mention_everyone: false, mentions: [] });
});

worldTest.each([
	["users", { mention_everyone: false, mentions: 1, roles: 0 }, "Pinged: @ada.\nNot pinged: @everyone, @Regular."],
	["roles", { mention_everyone: false, mentions: 1, roles: 1 }, "Pinged: @ada, @Regular.\nNot pinged: @everyone."],
	["everyone", { mention_everyone: true, mentions: 1, roles: 1 }, "Pinged: @everyone, @ada, @Regular."],
] as const)(
	"send_message with mentions = %s pings just those, and says whom",
	async (world, mentions, expected, said) => {
		const { simulator, guild } = world;
		const { id: channel_id } = simulator.channel(general);
		const role = roleNamed({ guild }, "Regular");
		const { text } = await world.call("send_message", {
			channel_id,
			content: `@everyone <@${simulator.user("ada").id}> <@&${role.id}>`,
			mentions,
		});
		const pings = text.split("\n").slice(1).join("\n");
		expect(pings.replace(/ \(ID: \d+\)/g, "")).toBe(said);
		const [message] = simulator.world.messages.in(channel_id);
		expect({
			mention_everyone: message?.mention_everyone,
			mentions: message?.mentions.length,
			roles: message?.mention_roles.length,
		}).toEqual(expected);
	},
);

worldTest("send_message replies, silently on request", async (world) => {
	const { simulator } = world;
	const said = await simulator.user("ada").say(general, "who is cooking?");
	await world.call("send_message", {
		guild_id: "",
		channel_id: said.channel_id,
		content: "I am.",
		reply_to: said.id,
		silent: true,
	});
	const [, message] = simulator.world.messages.in(said.channel_id);
	expect(message?.message_reference?.message_id).toBe(said.id);
	expect(message?.flags).toBe(4096);
});

worldTest("send_message does not write into a guild that the bot is not in", async (world) => {
	const text = await world.expectError("send_message", {
		guild_id: world.simulator.guild("The Bakers").id,
		channel_id: world.simulator.channel("The Bakers/general").id,
		content: "hello",
	});
	expect(text).toContain("list_guilds");
});

worldTest("a category holds no messages", async (world) => {
	const text = await world.expectError("send_message", {
		channel_id: world.simulator.channel("The Cooks/Talk").id,
		content: "hello",
	});
	expect(text).toContain("holds no messages");
});

worldTest("2000 emoji fit into a message", async (world) => {
	await world.expectResult("send_message", {
		channel_id: world.simulator.channel(general).id,
		content: "😀".repeat(2000),
		reply_to: null,
		mentions: null,
	});
});

worldTest("a reply without READ_MESSAGE_HISTORY is refused before Discord sees it", async (world) => {
	const { simulator } = world;
	const said = await simulator.user("ada").say(general, "who is cooking?");
	const channel = channelNamed(world, "general");
	await denyBot(world, channel, PermissionFlagsBits.ReadMessageHistory);
	const { text } = await world.call("send_message", {
		channel_id: said.channel_id,
		content: "I am.",
		reply_to: said.id,
	});
	expect(text).toContain("lacks READ_MESSAGE_HISTORY in #general");
	await denyBot(world, channel, PermissionFlagsBits.EmbedLinks);
	const framed = await world.call("send_message", {
		channel_id: said.channel_id,
		content: "I am.",
		embeds: [{ title: "Menu" }],
	});
	expect(framed.text).toContain("lacks EMBED_LINKS in #general");
	expect(simulator.requests.list(messages)).toHaveLength(1);
});

worldTest("what the bot lacks in a channel and may allow itself there names the call that does so", async (world) => {
	const { simulator } = world;
	const channel = channelNamed(world, "general");
	const bot = simulator.bot("alpha").id;
	const say = async () => (await world.call("send_message", { channel_id: channel.id, content: "x" })).text;
	const allow = `set_channel_permissions does that: channel_ids ${channel.id}, target_ids ${bot}, allow SEND_MESSAGES.`;
	await denyBot(world, channel, PermissionFlagsBits.SendMessages);
	expect(await say()).toContain(allow);
	const args = { channel_ids: [channel.id], target_ids: [bot], allow: ["SEND_MESSAGES"] };
	expect((await world.call("set_channel_permissions", args)).isError).toBe(false);
	expect(await say()).toContain("Message sent");
	await denyBot(world, channel, PermissionFlagsBits.SendMessages | PermissionFlagsBits.ManageRoles);
	expect(await say()).toContain("lacks SEND_MESSAGES in #general");
	expect(await say()).not.toContain("set_channel_permissions");
});

worldTest("embeds arrive complete", async (world) => {
	const picture = "https://example.org/soup.png";
	const { id: channel_id } = world.simulator.channel(general);
	const embed = {
		title: "Menu",
		description: "*today*",
		url: "https://example.org/menu",
		color: 0xff8800,
		timestamp: "2026-01-31T12:00:00+01:00",
		footer: { text: "until nine", icon_url: picture },
		image: { url: picture },
		thumbnail: { url: picture },
		author: { name: "The cook", url: picture, icon_url: picture },
		fields: [{ name: "Soup", value: "leek", inline: true }],
	};
	await world.expectResult("send_message", { channel_id, content: "x", embeds: [embed] });
	const [message] = world.simulator.world.messages.in(channel_id);
	expect(message?.embeds).toMatchObject([{ ...embed, timestamp: "2026-01-31T11:00:00.000Z" }]);
});

worldTest("6000 characters fit into all embeds of a message, and 6001 do not", async (world) => {
	const { id: channel_id } = world.simulator.channel(general);
	const send = (last: number) =>
		world.call("send_message", {
			channel_id,
			content: "x",
			embeds: [
				{ description: "a".repeat(4096) },
				{ title: "b".repeat(256), footer: { text: "c".repeat(548) } },
				{ author: { name: "f".repeat(100) } },
				{ fields: [{ name: "d", value: "e".repeat(last) }] },
			],
		});
	expect((await send(999)).isError).toBe(false);
	const { code, text } = await send(1000);
	expect(code).toBe(-32602);
	expect(text).toContain("at most 6000 characters over all embeds, received 6001");
	expect(world.simulator.requests.list(messages)).toHaveLength(1);
});

worldTest("the content of an embed pings nobody, whatever the mentions", async (world) => {
	const { id: channel_id } = world.simulator.channel(general);
	const said = await world.simulator.user("ada").say(general, "hello");
	await world.call("send_message", {
		channel_id,
		content: "@here @everyone",
		reply_to: said.id,
		mentions: "roles",
		embeds: [{ description: `@everyone <@${said.id}>` }],
	});
	const [, message] = world.simulator.world.messages.in(channel_id);
	expect(message).toMatchObject({ mention_everyone: false, mentions: [] });
});

// delete_messages

worldTest("two messages go in one bulk call, ids given twice once", async (world) => {
	const { channel, texts } = write(world, ["a", "b", "c"]);
	const [a, b] = texts;
	const { text } = await world.call("delete_messages", { channel_id: channel.id, message_ids: [a, b, a, b] });
	expect(text).toStartWith("Deleted 2 message(s) from #");
	expect(world.simulator.journal.entries()).toHaveLength(1);
	expect(world.simulator.journal.entries(bulk)).toMatchObject([{ body: { messages: [a, b] } }]);
	expect(left(world, channel)).toEqual(["c"]);
});

worldTest.each([
	["given twice", 0, 2],
	["that is old", 30, 1],
])("one message %s goes in a single call", async (world, _, age, times) => {
	const { channel, texts } = write(world, ["a", "b"], { a: age });
	await world.expectResult("delete_messages", { channel_id: channel.id, message_ids: Array(times).fill(texts[0]) });
	expect(world.simulator.journal.entries(single)).toHaveLength(1);
	expect(world.simulator.requests.list(bulk)).toEqual([]);
	expect(left(world, channel)).toEqual(["b"]);
});

worldTest("messages over 14 days old stay out of the bulk call and are deleted one by one", async (world) => {
	const { channel, texts } = write(world, ["ancient", "old", "c", "d"], { ancient: 400, old: 14 });
	const text = await world.expectResult("delete_messages", { channel_id: channel.id, message_ids: texts });
	expect(text).toStartWith("Deleted 4 message(s) from #");
	expect(world.simulator.journal.entries(bulk)).toMatchObject([{ body: { messages: texts.slice(2) } }]);
	expect(world.simulator.journal.entries(single)).toHaveLength(2);
	expect(left(world, channel)).toEqual([]);
});

worldTest("when one young message is left over, it goes in a single call", async (world) => {
	const { channel, texts } = write(world, ["old", "b"], { old: 15 });
	const { text } = await world.call("delete_messages", { channel_id: channel.id, message_ids: texts });
	expect(text).toStartWith("Deleted 2 message(s)");
	expect(world.simulator.journal.entries(single)).toHaveLength(2);
	expect(world.simulator.requests.list(bulk)).toEqual([]);
});

worldTest("a hundred ids are deleted in one request, and five hundred in one call", async (world) => {
	const { channel, texts } = write(
		world,
		Array.from({ length: 501 }, (_, index) => `m${index}`),
	);
	const remove = (message_ids: string[]) => world.call("delete_messages", { channel_id: channel.id, message_ids });
	const tooMany = await remove(texts);
	expect(tooMany.code).toBe(-32602);
	expect(tooMany.text).toContain("message_ids: expected at most 500");
	expect((await remove([])).text).toContain("message_ids: expected at least 1");
	expect((await remove(texts.slice(400))).text).toStartWith("Deleted 101 message(s)");
	expect(world.simulator.journal.entries(bulk)).toHaveLength(1);
	expect(world.simulator.journal.entries(single)).toHaveLength(1);
	expect((await remove(texts.slice(0, 400))).text).toStartWith("Deleted 400 message(s)");
	expect(left(world, channel)).toEqual([]);
});

worldTest("ids of another channel are reported as ignored by Discord", async (world) => {
	const { channel, texts } = write(world, ["a"]);
	const elsewhere = write(world, ["b"]);
	const { text } = await world.call("delete_messages", {
		channel_id: channel.id,
		message_ids: [...texts, ...elsewhere.texts],
	});
	expect(left(world, elsewhere.channel)).toEqual(["b"]);
	expect(left(world, channel)).toEqual([]);
	expect(text).toContain("silently ignores ids of messages that do not exist there");
});

// A forward's snapshot without components ends discord.js's reading of messages.
worldTest("the latest messages are deleted, whatever they contain", async (world) => {
	const { channel } = write(world, ["a", "b", "c"]);
	const { faults } = world.simulator;
	const said = { content: "", embeds: [], attachments: [] };
	const odd = { message_snapshots: [{ message: { ...said, components: null } }] };
	faults.rewrite("GET /channels/*/messages", ({ body = "", ...answer }) => ({
		...answer,
		body: JSON.stringify((JSON.parse(body) as object[]).map((one) => ({ ...one, ...odd }))),
	}));
	const { text } = await world.call("delete_messages", { channel_id: channel.id, count: 2 });
	expect(text).toStartWith("Deleted 2 message(s)");
	expect(left(world, channel)).toEqual(["a"]);
});

worldTest("a dry run folds similar messages, and says how to see what it does not show", async (world) => {
	const spam = Array.from({ length: 12 }, (_, index) => `FREE lamps at every door ${index}`);
	const words = ["ant", "bee", "cat", "dog", "elk", "fox", "gnu", "hen", "ibis", "jay", "kiwi", "lynx", "mole", "newt"];
	const others = words.flatMap((one) => [`${one} in the kitchen`, `${one} in the cellar`]);
	const { channel, texts } = write(world, [...others, ...spam], {}, ["ada", "zoe"]);
	const dryRun = async (args: object) => {
		const given = { channel_id: channel.id, ...args, dry_run: true };
		return (await world.call("delete_messages", given)).text.split("\n");
	};
	const lines = await dryRun({ count: 100 });
	expect(lines[1]).toStartWith("Would delete 40 message(s)");
	expect(lines.filter((line) => line.includes("text: FREE"))).toHaveLength(3);
	expect(lines.filter((line) => line.includes("| text: "))).toHaveLength(24);
	expect(lines).toContainEqual(
		expect.stringMatching(
			/^… 9 more messages like this, .* by @ada \(5\), @zoe \(4\); search_messages with fold=false/,
		),
	);
	expect(lines).toContain("Not all are shown: search_messages finds them with the same filters.");
	expect(await dryRun({ message_ids: texts })).toContain("Not all are shown: get_message shows each.");
	const few = await dryRun({ count: 14 });
	expect(few.filter((line) => line.includes("| text: "))).toHaveLength(5);
	expect(few.join("\n")).not.toContain("Not all");
});

worldTest.each([
	["the latest", { count: 2 }, ["a", "Soup b", "c"]],
	["one author's", { count: 5, user_ids: ["zoe"] }, ["a", "c", "SOUP d"]],
	["those with a text", { count: 5, text: "soUP" }, ["a", "c", "e"]],
	["one author's with a text", { count: 1, user_ids: ["ada"], text: "soup" }, ["a", "Soup b", "c", "e"]],
	["nobody's", { count: 5, user_ids: ["alpha"] }, ["a", "Soup b", "c", "SOUP d", "e"]],
] as const)("count deletes %s", async (world, _, given, expected) => {
	const { channel } = write(world, ["a", "Soup b", "c", "SOUP d", "e"], {}, ["ada", "zoe", "ada", "ada", "zoe"]);
	const { user_ids = [], ...rest } = { user_ids: undefined, ...given };
	const text = await world.expectResult("delete_messages", {
		channel_id: channel.id,
		...rest,
		...(user_ids.length > 0 && { user_ids: user_ids.map((name) => world.simulator.user(name).id) }),
	});
	expect(left(world, channel)).toEqual([...expected]);
	const deleted = 5 - expected.length;
	expect(text).toStartWith(deleted === 0 ? "No message in #" : `Deleted ${deleted} message(s)`);
});

worldTest("count looks through several pages", async (world) => {
	const { simulator } = world;
	const { channel } = write(world, ["needle far", "needle"]);
	const author = userNamed({ simulator }, "zoe");
	for (let index = 0; index < 999; index += 1) simulator.world.messages.add(channel, author, { content: "hay" });
	const { text } = await world.call("delete_messages", { channel_id: channel.id, count: 2, text: "needle" });
	expect(text).toStartWith("Deleted 2 message(s)");
	expect(simulator.world.messages.in(channel.id)).toHaveLength(999);
});

worldTest("a dry run by ids shows the authors, and which messages do not exist", async (world) => {
	const { channel, texts } = write(world, ["here"]);
	const elsewhere = await world.simulator.user("zoe").say(general, "there");
	const [here = ""] = texts;
	const dryRun = async () => {
		const { text } = await world.call("delete_messages", {
			channel_id: channel.id,
			message_ids: [here, elsewhere.id],
			dry_run: true,
		});
		return text.split("\n");
	};
	const lines = await dryRun();
	expect(lines[1]).toStartWith("Would delete 1 message(s) from #");
	expect(lines.slice(2)).toEqual([
		"By author:",
		`1 | Ada (@ada, ID: ${world.simulator.user("ada").id})`,
		"Newest first; date, channel, author where they change:",
		expect.stringMatching(new RegExp(`^\\S+Z \\| Ada \\(@ada, ID: \\d+\\) \\| ID: ${here} \\| text: here$`)),
		`1 not found: ${elsewhere.id}`,
	]);
	expect(left(world, channel)).toEqual(["here"]);
	await denyBot(world, channel, PermissionFlagsBits.ReadMessageHistory);
	expect((await dryRun())[2]).toStartWith("Discord silently ignores ids");
});

worldTest("a dry run by filter counts, and shows the latest messages and what would stay", async (world) => {
	const contents = Array.from({ length: 7 }, (_, index) => `soup ${index}`);
	const { channel, texts } = write(world, contents, { "soup 0": 20 }, ["ada", "zoe", "zoe"]);
	const pinned = world.simulator.world.messages.get(channel.id, texts[6] ?? "");
	if (pinned) pinned.pinned_at = new Date(0).toISOString();
	const args = { channel_id: channel.id, text: "SOUP" };
	const dry = await world.call("delete_messages", { ...args, dry_run: true });
	const lines = dry.text.split("\n");
	expect(lines.slice(0, 7)).toEqual([
		"Dry run: nothing was done.",
		`Would delete 6 message(s) from #${channel.name} (ID: ${channel.id}).`,
		"1 over 14 days old, which are deleted one by one.",
		"By author:",
		expect.stringMatching(/^4 \| .*@zoe, ID/),
		expect.stringMatching(/^2 \| .*@ada, ID/),
		"Newest first; date, channel, author where they change:",
	]);
	for (const [index, line] of lines.slice(7, 13).entries())
		expect(line).toContain(`ID: ${texts[5 - index]} | text: soup ${5 - index}`);
	const kept = `1 pinned and left; \`message_ids\` deletes them: ${texts[6]}`;
	const alone = "Threads of the named channels were not searched: channel_ids also takes categories and threads.";
	expect(lines.slice(13)).toEqual([kept, alone]);
	expect(left(world, channel)).toHaveLength(7);
	const real = await world.call("delete_messages", args);
	expect(real.text).toBe(`Deleted 6 message(s) from #${channel.name} (ID: ${channel.id}).\n${kept}\n${alone}`);
	expect(left(world, channel)).toEqual(["soup 6"]);
});

/** Messages of ada and zoe in two channels: s0 … in #channel-N, o0 … in the next one. */
function writeInTwo(world: TestWorld, count: number) {
	const named = (letter: string) => Array.from({ length: count }, (_, index) => `${letter}${index}`);
	const authors = ["ada", "zoe"];
	const stove = write(world, named("s"), {}, authors);
	return { stove, oven: write(world, named("o"), {}, authors) };
}

worldTest("ids and links of several channels are deleted together", async (world) => {
	const { stove, oven } = writeInTwo(world, 3);
	const link = `https://discord.com/channels/${world.guild.id}/${oven.channel.id}/${oven.texts[1]}`;
	const message_ids = [
		stove.texts[0],
		`${stove.channel.id}/${stove.texts[1]}`,
		`${oven.channel.id}/${oven.texts[0]}`,
		link,
		`${oven.channel.id}/${oven.texts[0]}`,
	];
	const args = { channel_id: stove.channel.id, message_ids };
	const dry = await world.call("delete_messages", { ...args, dry_run: true });
	expect(dry.text).toContain("Would delete 4 message(s) in 2 channel(s).");
	expect(dry.text).toContain(`2 | #${oven.channel.name} (ID`);
	const { text } = await world.call("delete_messages", args);
	expect(text).toStartWith("Deleted 4 message(s) in 2 channel(s).\n");
	expect(text).toContain(`#${stove.channel.name} (ID: ${stove.channel.id}) | 2 deleted`);
	expect(left(world, stove.channel)).toEqual(["s2"]);
	expect(left(world, oven.channel)).toEqual(["o2"]);
	const one = await world.call("delete_messages", { message_ids: [`${oven.channel.id}/${oven.texts[2]}`] });
	expect(one.text).toStartWith("Deleted the message of ");
	expect(world.simulator.journal.entries(bulk)).toHaveLength(2);
	expect(world.simulator.journal.entries(single)).toHaveLength(1);
});

worldTest("one wrong reference or missing permission deletes nothing", async (world) => {
	const { stove, oven } = writeInTwo(world, 2);
	const [first = "", second = ""] = stove.texts;
	const inStove = [first, second].map((id) => `${stove.channel.id}/${id}`);
	const remove = (message_ids: string[]) => world.call("delete_messages", { message_ids });
	const other = world.simulator.guild("The Bakers").id;
	const path = `${stove.channel.id}/${first}`;
	const foreign = `https://discord.com/channels/${other}/${path}`;
	expect((await remove([...inStove, foreign])).text).toContain(`is in the guild ${other}`);
	expect((await remove([...inStove, second])).text).toContain(`the channel of ${second} is not given`);
	expect((await remove([...inStove, `${"1".repeat(18)}/${second}`])).text).toStartWith("There is no channel");
	await denyBot(world, oven.channel, PermissionFlagsBits.ManageMessages);
	const there = `${oven.channel.id}/${oven.texts[0]}`;
	expect((await remove([...inStove, there])).text).toStartWith(
		`The bot lacks MANAGE_MESSAGES in #${oven.channel.name}`,
	);
	expect(world.simulator.journal.entries()).toEqual([]);
});

worldTest("after a raid, two calls delete what its accounts wrote in all channels, and only that", async (world) => {
	const { simulator, guild } = world;
	const raiders = Array.from({ length: 12 }, (_, index) => {
		const user = simulator.world.users.add({ username: `raider${index}` });
		return simulator.world.members.add(guild, user).user;
	});
	const [locked] = guild.channels.values();
	const channels = Array.from({ length: 10 }, (_, index) =>
		simulator.world.channels.add(guild, { name: `room-${index}` }),
	);
	const day = 86_400_000;
	for (const channel of channels) {
		const say = (author: (typeof raiders)[number], content: string, at?: number) =>
			simulator.world.messages.add(channel, author, {
				content,
				...(at !== undefined && { id: simulator.world.state.newId(at) }),
			});
		const [first] = raiders;
		if (first) say(first, "long ago", Date.now() - day);
		for (const raider of raiders) say(raider, "join discord.gg/raid");
		say(userNamed(world, "ada"), "what is this?");
		if (first) say(first, "and pinned").pinned_at = new Date(0).toISOString();
	}
	const [forbidden] = channels;
	if (!locked || !forbidden) throw new Error("there are channels");
	await denyBot(world, forbidden, PermissionFlagsBits.ManageMessages);
	const args = { user_ids: raiders.map(({ id }) => id), after: "3h" };
	const dry = await world.call("delete_messages", { ...args, dry_run: true });
	expect(dry.text).toContain("Would delete 108 message(s) in 9 channel(s).");
	expect(dry.text).toContain("12 | #room-9");
	expect(dry.text).toContain("9 | @raider3 (ID: ");
	expect(dry.text).toContain("9 pinned and left");
	expect(dry.text).toContain("Not searched: 1 channel for lack of permissions: #room-0");
	const { text } = await world.call("delete_messages", args);
	expect(text).toStartWith("Deleted 108 message(s) in 9 channel(s).\n");
	expect(text.match(/ \| 12 deleted$/gm)).toHaveLength(9);
	for (const channel of channels.slice(1))
		expect(left(world, channel)).toEqual(["long ago", "what is this?", "and pinned"]);
	expect(left(world, forbidden)).toHaveLength(15);
	expect(simulator.journal.entries(bulk)).toHaveLength(9);
	expect(simulator.journal.entries(single)).toEqual([]);
});

worldTest("without after, Discord's index finds the messages, and whole words are not enough", async (world) => {
	const { stove, oven } = writeInTwo(world, 1);
	const old = write(world, ["cheap rum", "rum"], { "cheap rum": 30 });
	await world.heard();
	const rum = { text: "cheap rum" };
	const { text } = await world.call("delete_messages", rum);
	expect(text).toStartWith(`Deleted 1 message(s) from #${old.channel.name}`);
	expect(text).toContain("Discord's index was searched");
	expect(left(world, old.channel)).toEqual(["rum"]);
	const zoe = { user_ids: [world.simulator.user("ada").id] };
	const all = await world.call("delete_messages", zoe);
	expect(all.text).toStartWith("Deleted 3 message(s) in 3 channel(s).");
	expect([stove, oven].flatMap(({ channel }) => left(world, channel))).toEqual([]);
});

worldTest("what Discord refuses in one channel is named, and the rest is deleted", async (world) => {
	const { stove, oven } = writeInTwo(world, 2);
	await world.heard();
	world.simulator.faults.refuse(`POST /channels/${stove.channel.id}/messages/bulk-delete`, 50013);
	const text = await world.expectResult("delete_messages", {
		channel_ids: [stove.channel.id, oven.channel.id],
		after: "1d",
	});
	expect(text).toStartWith("Deleted 2 of 4 message(s) in 2 channel(s).");
	expect(text).toContain(
		`#${stove.channel.name} (ID: ${stove.channel.id}) | 0 deleted | 2 refused: Discord API error: Missing Permissions`,
	);
	expect(left(world, stove.channel)).toHaveLength(2);
	expect(left(world, oven.channel)).toEqual([]);
});

worldTest("a deletion of unknown outcome is named, and ends the call", async (world) => {
	const { stove, oven } = writeInTwo(world, 2);
	await world.heard();
	const path = ({ channel }: typeof stove) => `POST /channels/${channel.id}/messages/bulk-delete`;
	world.simulator.faults.drop(path(oven), { when: "after", times: 1 });
	world.simulator.faults.drop(path(stove), { when: "after", times: 1 });
	const text = await world.expectError("delete_messages", {
		channel_ids: [stove.channel.id, oven.channel.id],
		after: "1d",
	});
	expect(text).toStartWith("Deleted 0 of 4 message(s) in 2 channel(s).");
	expect(text).toContain("2 of unknown outcome: ");
	expect(text).toContain("2 not started: check the outcome of the previous one first. To continue, call again");
});

test("old messages that a rate limit leaves are counted, and named if they were given by id", async () => {
	await using world = await startWorld({
		rateLimits: { ...generousLimits, routes: { [single]: { requests: 2, perMs: 600_000 } } },
	});
	const ages = { a: 24, b: 23, c: 22, d: 21, e: 20 };
	const { channel, texts } = write(world, Object.keys(ages), ages);
	const channel_id = channel.id;
	await world.heard();
	const { text } = await world.call("delete_messages", { channel_id, count: 4 });
	expect(text).toStartWith("Deleted 2 of 4 message(s) from #");
	expect(text).toContain("2 not started: Discord API error: Discord's rate");
	expect(text).toContain("To continue, call again with the same arguments.");
	expect(left(world, channel)).toEqual(["a", "b", "c"]);
	const again = await world.call("delete_messages", { channel_id, message_ids: texts.slice(0, 2) });
	expect(again.isError).toBe(true);
	expect(again.text).toContain(`To continue, call again with message_ids ${texts.slice(0, 2).join(", ")}.`);
});

/** An archived thread that the bot has not heard of, with the message "soup". */
function archivedThread(
	{ simulator, guild }: TestWorld,
	channel: Parameters<TestWorld["simulator"]["world"]["threads"]["add"]>[0],
) {
	const { state, threads, messages } = simulator.world;
	const ada = userNamed({ simulator }, "ada");
	const started = threads.add(channel, ada, { name: "soups" });
	const id = state.newId();
	const thread = { ...started, id };
	guild.threads.set(id, thread);
	state.channels.set(id, thread);
	const said = messages.add(thread, ada, { content: "soup" });
	thread.archived = true;
	return { thread, said };
}

worldTest(
	"with after, messages of archived threads are deleted, and given channels stay the only ones",
	async (world) => {
		const { simulator } = world;
		const { channel } = write(world, ["soup"]);
		const { thread, said } = archivedThread(world, channel);
		const remove = async (more: object) => {
			return (await world.call("delete_messages", { text: "soup", after: "1d", ...more })).text;
		};
		// The notice about the thread has its name.
		const first = await remove({ channel_ids: [channel.id] });
		expect(first).toStartWith(`Deleted 2 message(s) from #${channel.name}`);
		expect(simulator.world.messages.get(thread.id, said.id)).toBeDefined();
		const all = await remove({});
		expect(all).toStartWith("Deleted 1 message(s) from #soups");
		expect(all).toMatch(/^Searched: .*#\S+, 1 active thread, 1 archived thread\.$/m);
		expect(simulator.world.messages.get(thread.id, said.id)).toBeUndefined();
	},
);

worldTest(
	"pinned messages that the index finds first do not count, so that repeating the call goes on",
	async (world) => {
		const { channel } = write(world, ["raid 0", "raid 1", "raid 2", "raid 3"]);
		const { messages } = world.simulator.world;
		for (const message of messages.in(channel.id).slice(-2)) messages.pin(channel, message, userNamed(world, "ada"));
		await world.heard();
		const args = { text: "raid", count: 1 };
		for (const [deleted, more] of [
			["raid 1", true],
			["raid 0", false],
		] as const) {
			const dry = await world.call("delete_messages", { ...args, dry_run: true });
			expect(dry.text).toContain("Would delete 1 message(s) from #");
			expect(dry.text).toContain(`| text: ${deleted}`);
			expect(dry.text.includes("More match")).toBe(more);
			const { text } = await world.call("delete_messages", args);
			expect(text).toStartWith("Deleted 1 message(s) from #");
			expect(text).toContain("2 pinned and left");
			expect(left(world, channel)).not.toContain(deleted);
		}
	},
);

worldTest("a message of an archived thread that the index finds is deleted, unless the bot may not", async (world) => {
	const { simulator } = world;
	const { channel } = write(world, ["soup"]);
	const { thread, said } = archivedThread(world, channel);
	await world.heard();
	const closed = write(world, ["soup"]);
	await denyBot(world, closed.channel, PermissionFlagsBits.ManageMessages);
	const { text } = await world.call("delete_messages", { text: "soup" });
	expect(text).toStartWith("Deleted 2 message(s) in 2 channel(s).");
	expect(text).toContain("Not searched: 1 channel for lack of permissions");
	expect(simulator.world.messages.get(thread.id, said.id)).toBeUndefined();
	expect(left(world, closed.channel)).toEqual(["soup"]);
});

test("without the Message Content Intent, text is refused and names the intent", async () => {
	const seed = demoSeed();
	await using world = await startWorld({
		seed: { ...seed, bots: [{ username: "alpha", privilegedIntents: ["GuildMembers"] }, { username: "beta" }] },
	});
	const { channel } = write(world, ["a"]);
	const call = (args: object) => world.call("delete_messages", { channel_id: channel.id, ...args });
	const { text, isError } = await call({ count: 1, text: "a" });
	expect(isError).toBe(true);
	expect(text).toContain("Message Content Intent");
	expect(left(world, channel)).toEqual(["a"]);
	expect((await call({ count: 1 })).isError).toBe(false);
	expect(left(world, channel)).toEqual([]);
});

worldTest("a failed read deletes nothing", async (world) => {
	const { channel } = write(world, ["a", "b"]);
	world.simulator.faults.fail("GET /channels/*/messages", 500);
	const text = await world.expectError("delete_messages", { channel_id: channel.id, count: 2 });
	expect(text).toContain("nothing was changed");
	expect(left(world, channel)).toEqual(["a", "b"]);
});

/** A new channel with these messages, oldest first; `ages` in days, `authors` in turn. */
function write(
	{ simulator, guild }: TestWorld,
	contents: readonly string[],
	ages: Record<string, number> = {},
	authors: readonly string[] = ["ada"],
) {
	const { world } = simulator;
	const channel = world.channels.add(guild, { name: `channel-${guild.channels.size}` });
	const texts = contents.map((content, index) => {
		const name = authors[index % authors.length] ?? "ada";
		const author = userNamed({ simulator }, name);
		const age = ages[content];
		return world.messages.add(channel, author, {
			content,
			...(age !== undefined && { id: world.state.newId(Date.now() - age * dayMs) }),
		}).id;
	});
	return { channel, texts };
}

function left({ simulator }: TestWorld, channel: GuildChannel): string[] {
	return simulator.world.messages.in(channel.id).map(({ content }) => content);
}
