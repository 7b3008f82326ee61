// send_message and delete_messages.

import { expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { demoSeed } from "../../../src/simulator/seed.ts";
import type { GuildChannel } from "../../../src/simulator/world/state/entities.ts";
import { shareWorld } from "../../support/shared-world.ts";
import {
	channelNamed,
	denyBot,
	linked,
	startWorld,
	type TestWorld,
	userNamed,
} from "../../support/world.ts";

const shared = shareWorld();

const messages = "POST /channels/:channel_id/messages";
const bulk = "POST /channels/:channel_id/messages/bulk-delete";
const single = "DELETE /channels/:channel_id/messages/:message_id";
const general = "The Cooks/general";
const dayMs = 86_400_000;

test("send_message writes once, pings nobody, and returns the message's id", async () => {
	await using world = await startWorld();
	const { simulator } = world;
	const { id: channel_id } = simulator.channel(general);
	const { id: ada } = simulator.user("ada");
	const content = `@everyone <@${ada}> <@${ada}>`;
	const { text, isError } = await world.call("send_message", {
		channel_id,
		content,
	});
	expect(isError).toBe(false);
	expect(simulator.journal.entries(messages)).toHaveLength(1);
	const [message] = simulator.world.messages.in(channel_id);
	expect(text).toBe(
		`Message sent (ID: ${message?.id}) to ${linked(world, channelNamed(world, "general"), message?.id)}\nNot pinged: @everyone, Ada (@ada, ID: ${ada}).`,
	);
	expect(message).toMatchObject({
		content,
		mention_everyone: false,
		mentions: [],
	});
});

test.each([
	[
		"users",
		{ mention_everyone: false, mentions: 1, roles: 0 },
		"Pinged: @ada.\nNot pinged: @everyone, @Regular.",
	],
	[
		"roles",
		{ mention_everyone: false, mentions: 1, roles: 1 },
		"Pinged: @ada, @Regular.\nNot pinged: @everyone.",
	],
	[
		"everyone",
		{ mention_everyone: true, mentions: 1, roles: 1 },
		"Pinged: @everyone, @ada, @Regular.",
	],
] as const)(
	"send_message with mentions = %s pings just those, and says whom",
	async (mentions, expected, said) => {
		await using world = await startWorld();
		const { simulator, guild } = world;
		const { id: channel_id } = simulator.channel(general);
		const role = [...guild.roles.values()].find((r) => r.name === "Regular");
		const { text } = await world.call("send_message", {
			channel_id,
			content: `@everyone <@${simulator.user("ada").id}> <@&${role?.id}>`,
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

test("send_message replies, silently and without link previews on request", async () => {
	await using world = await startWorld();
	const { simulator } = world;
	const said = await simulator.user("ada").say(general, "who is cooking?");
	await world.call("send_message", {
		guild_id: "",
		channel_id: said.channel_id,
		content: "I am.",
		reply_to: said.id,
		silent: true,
		suppress_embeds: true,
	});
	const [, message] = simulator.world.messages.in(said.channel_id);
	expect(message?.message_reference?.message_id).toBe(said.id);
	expect(message?.flags).toBe(4096 | 4);
});

test("send_message does not write into a guild that the bot is not in", async () => {
	await using world = await startWorld();
	const { text, isError } = await world.call("send_message", {
		guild_id: world.simulator.guild("The Bakers").id,
		channel_id: world.simulator.channel("The Bakers/general").id,
		content: "hello",
	});
	expect(isError).toBe(true);
	expect(text).toContain("list_guilds");
});

test("a category holds no messages", async () => {
	await using world = await startWorld();
	const { text, isError } = await world.call("send_message", {
		channel_id: world.simulator.channel("The Cooks/Talk").id,
		content: "hello",
	});
	expect(isError).toBe(true);
	expect(text).toContain("holds no messages");
});

test.each([
	[{}, ["channel_id: is required", "content: is required"]],
	[
		{ channel_id: "general", content: "" },
		[
			'channel_id: expected an id of 17 to 20 digits, received "general"',
			"content: expected 1 to 2000 characters, received 0",
		],
	],
	[
		{ channel_id: 17, content: ["x"] },
		[
			"channel_id: expected string, received 17",
			"content: expected string, received Array",
		],
	],
	[
		{ channel_id: "1".repeat(18), content: "😀".repeat(2001) },
		["content: expected 1 to 2000 characters, received 2001"],
	],
	[
		{ channel_id: "1".repeat(18), content: "x", mentions: "all", tts: true },
		["mentions: expected", "tts: this tool has no such parameter"],
	],
])(
	"invalid arguments %# are refused, each by its name",
	async (args, faults) => {
		const world = await shared();
		const { text, code } = await world.call("send_message", args);
		expect(code).toBe(-32602);
		expect(text).toStartWith("Invalid parameters: ");
		for (const fault of faults) expect(text).toContain(fault);
		expect(world.simulator.requests.list(messages)).toEqual([]);
	},
);

test("2000 emoji fit into a message", async () => {
	await using world = await startWorld();
	const { isError } = await world.call("send_message", {
		channel_id: world.simulator.channel(general).id,
		content: "😀".repeat(2000),
		reply_to: null,
		mentions: null,
	});
	expect(isError).toBe(false);
});

test("a reply without READ_MESSAGE_HISTORY is refused before Discord sees it", async () => {
	await using world = await startWorld();
	const { simulator } = world;
	const said = await simulator.user("ada").say(general, "who is cooking?");
	const channel = channelNamed(world, "general");
	denyBot(world, channel, PermissionFlagsBits.ReadMessageHistory);
	await world.heard();
	const { text } = await world.call("send_message", {
		channel_id: said.channel_id,
		content: "I am.",
		reply_to: said.id,
	});
	expect(text).toContain("lacks READ_MESSAGE_HISTORY in #general");
	denyBot(world, channel, PermissionFlagsBits.EmbedLinks);
	await world.heard();
	const framed = await world.call("send_message", {
		channel_id: said.channel_id,
		content: "I am.",
		embeds: [{ title: "Menu" }],
	});
	expect(framed.text).toContain("lacks EMBED_LINKS in #general");
	expect(simulator.requests.list(messages)).toHaveLength(1);
});

test("embeds arrive complete", async () => {
	await using world = await startWorld();
	const picture = "https://example.org/soup.png";
	const { id: channel_id } = world.simulator.channel(general);
	const { isError } = await world.call("send_message", {
		channel_id,
		content: "x",
		embeds: [
			{
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
			},
		],
	});
	expect(isError).toBe(false);
	const [message] = world.simulator.world.messages.in(channel_id);
	expect(message?.embeds).toMatchObject([
		{
			title: "Menu",
			description: "*today*",
			url: "https://example.org/menu",
			color: 0xff8800,
			timestamp: "2026-01-31T11:00:00.000Z",
			footer: { text: "until nine", icon_url: picture },
			image: { url: picture },
			thumbnail: { url: picture },
			author: { name: "The cook", url: picture, icon_url: picture },
			fields: [{ name: "Soup", value: "leek", inline: true }],
		},
	]);
});

test("each issue of an embed is reported with its path", async () => {
	await using world = await startWorld();
	const { id: channel_id } = world.simulator.channel(general);
	const { code, text } = await world.call("send_message", {
		channel_id,
		content: "x",
		embeds: [
			{ footer: "until nine", image_url: "https://example.org/soup.png" },
			{
				footer: { text: "" },
				image: {},
				author: { name: "a", avatar: "b" },
				fields: [{ name: "Soup" }],
			},
		],
	});
	expect(code).toBe(-32602);
	for (const fault of [
		"embeds.0.footer: expected Object",
		"embeds.0.image_url: this tool has no such parameter",
		"embeds.1.footer.text: expected 1 to 2048 characters, received 0",
		"embeds.1.image.url: is required",
		"embeds.1.author.avatar: this tool has no such parameter",
		"embeds.1.fields.0.value: is required",
	])
		expect(text).toContain(fault);
	expect(world.simulator.requests.list(messages)).toEqual([]);
});

test("6000 characters fit into all embeds of a message, and 6001 do not", async () => {
	await using world = await startWorld();
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
	expect(text).toContain(
		"at most 6000 characters over all embeds, received 6001",
	);
	expect(world.simulator.requests.list(messages)).toHaveLength(1);
});

test("the content of an embed pings nobody, whatever the mentions", async () => {
	await using world = await startWorld();
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

test("two messages go in one bulk call, ids given twice once", async () => {
	await using world = await startWorld();
	const { channel, texts } = write(world, ["a", "b", "c"]);
	const [a, b] = texts;
	const { text } = await world.call("delete_messages", {
		channel_id: channel.id,
		message_ids: [a, b, a, b],
	});
	expect(text).toStartWith("Deleted 2 message(s) from #");
	expect(world.simulator.journal.entries()).toHaveLength(1);
	expect(world.simulator.journal.entries(bulk)).toMatchObject([
		{ body: { messages: [a, b] } },
	]);
	expect(left(world, channel)).toEqual(["c"]);
});

test.each([
	["given twice", 0, 2],
	["that is old", 30, 1],
])("one message %s goes in a single call", async (_, age, times) => {
	await using world = await startWorld();
	const { channel, texts } = write(world, ["a", "b"], { a: age });
	const { isError } = await world.call("delete_messages", {
		channel_id: channel.id,
		message_ids: Array(times).fill(texts[0]),
	});
	expect(isError).toBe(false);
	expect(world.simulator.journal.entries(single)).toHaveLength(1);
	expect(world.simulator.requests.list(bulk)).toEqual([]);
	expect(left(world, channel)).toEqual(["b"]);
});

test("messages over 14 days old stay out of the bulk call and are named", async () => {
	await using world = await startWorld();
	const { channel, texts } = write(world, ["ancient", "old", "c", "d"], {
		ancient: 400,
		old: 14,
	});
	const { text, isError } = await world.call("delete_messages", {
		channel_id: channel.id,
		message_ids: texts,
	});
	expect(isError).toBe(false);
	expect(text).toContain("Deleted 2 message(s)");
	expect(text).toContain(
		`2 over 14 days old, which delete_message can delete one at a time: ${texts[0]}, ${texts[1]}`,
	);
	expect(left(world, channel)).toEqual(["ancient", "old"]);
});

test("when one young message is left over, it goes in a single call", async () => {
	await using world = await startWorld();
	const { channel, texts } = write(world, ["old", "b"], { old: 15 });
	const { text } = await world.call("delete_messages", {
		channel_id: channel.id,
		message_ids: texts,
	});
	expect(text).toContain(
		`1 over 14 days old, which delete_message can delete one at a time: ${texts[0]}`,
	);
	expect(world.simulator.journal.entries(single)).toHaveLength(1);
	expect(world.simulator.requests.list(bulk)).toEqual([]);
	expect(left(world, channel)).toEqual(["old"]);
});

test("nothing is sent when all of several messages are old, and they are named", async () => {
	await using world = await startWorld();
	const { channel, texts } = write(world, ["old", "older"], {
		old: 15,
		older: 20,
	});
	const { text } = await world.call("delete_messages", {
		channel_id: channel.id,
		message_ids: texts,
	});
	expect(text).toStartWith("Nothing was deleted: 2 over 14 days old");
	for (const id of texts) expect(text).toContain(id);
	expect(world.simulator.journal.entries()).toEqual([]);
});

test("a hundred ids are deleted at once, and a hundred and one are refused", async () => {
	await using world = await startWorld();
	const { channel, texts } = write(
		world,
		Array.from({ length: 101 }, (_, index) => `m${index}`),
	);
	const remove = (message_ids: string[]) =>
		world.call("delete_messages", { channel_id: channel.id, message_ids });
	const tooMany = await remove(texts);
	expect(tooMany.code).toBe(-32602);
	expect(tooMany.text).toContain("message_ids: expected at most 100");
	expect((await remove([])).text).toContain("message_ids: expected at least 1");
	expect((await remove(texts.slice(1))).text).toStartWith(
		"Deleted 100 message(s)",
	);
	expect(left(world, channel)).toEqual(["m0"]);
});

test("ids of another channel are reported as ignored by Discord", async () => {
	await using world = await startWorld();
	const { channel, texts } = write(world, ["a"]);
	const elsewhere = write(world, ["b"]);
	const { text } = await world.call("delete_messages", {
		channel_id: channel.id,
		message_ids: [...texts, ...elsewhere.texts],
	});
	expect(left(world, elsewhere.channel)).toEqual(["b"]);
	expect(left(world, channel)).toEqual([]);
	expect(text).toContain(
		"silently ignores ids of messages that do not exist there",
	);
});

// A forward's snapshot without components ends discord.js's reading of messages.
test("the latest messages are deleted, whatever they contain", async () => {
	await using world = await startWorld();
	const { channel } = write(world, ["a", "b", "c"]);
	const { faults } = world.simulator;
	const said = { content: "", embeds: [], attachments: [] };
	const odd = {
		message_snapshots: [{ message: { ...said, components: null } }],
	};
	faults.rewrite("GET /channels/*/messages", ({ body = "", ...answer }) => ({
		...answer,
		body: JSON.stringify(
			(JSON.parse(body) as object[]).map((one) => ({ ...one, ...odd })),
		),
	}));
	const args = { channel_id: channel.id, count: 2 };
	const { text } = await world.call("delete_messages", args);
	expect(text).toStartWith("Deleted 2 message(s)");
	expect(left(world, channel)).toEqual(["a"]);
});

test.each([
	["the latest", { count: 2 }, ["a", "Soup b", "c"]],
	["one author's", { count: 5, author_id: "zoe" }, ["a", "c", "SOUP d"]],
	["those with a text", { count: 5, contains: "soUP" }, ["a", "c", "e"]],
	[
		"one author's with a text",
		{ count: 1, author_id: "ada", contains: "soup" },
		["a", "Soup b", "c", "e"],
	],
	[
		"nobody's",
		{ count: 5, author_id: "alpha" },
		["a", "Soup b", "c", "SOUP d", "e"],
	],
] as const)("count deletes %s", async (_, given, expected) => {
	await using world = await startWorld();
	const { channel } = write(world, ["a", "Soup b", "c", "SOUP d", "e"], {}, [
		"ada",
		"zoe",
		"ada",
		"ada",
		"zoe",
	]);
	const { author_id, ...rest } = { author_id: undefined, ...given };
	const { text, isError } = await world.call("delete_messages", {
		channel_id: channel.id,
		...rest,
		...(author_id && { author_id: world.simulator.user(author_id).id }),
	});
	expect(isError).toBe(false);
	expect(left(world, channel)).toEqual([...expected]);
	const deleted = 5 - expected.length;
	expect(text).toStartWith(
		deleted === 0 ? "No message in #" : `Deleted ${deleted} message(s)`,
	);
});

test("count looks through several pages, and no further than a thousand messages", async () => {
	await using world = await startWorld();
	const { simulator } = world;
	const { channel } = write(world, ["needle far", "needle"]);
	const author = userNamed({ simulator }, "zoe");
	for (let index = 0; index < 999; index += 1)
		simulator.world.messages.add(channel, author, { content: "hay" });
	const { text } = await world.call("delete_messages", {
		channel_id: channel.id,
		count: 2,
		contains: "needle",
	});
	expect(text).toStartWith("Deleted 1 message(s)");
	expect(left(world, channel)[0]).toBe("needle far");
	expect(simulator.world.messages.in(channel.id)).toHaveLength(1000);
});

test("a dry run by ids shows the authors, and which messages do not exist", async () => {
	await using world = await startWorld();
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
	expect(lines[2]).toBe("The first 2:");
	expect(lines[3]).toMatch(/^\S+Z by @ada \(ID: \d+\) \| ID: \d+$/);
	expect(lines[3]).toEndWith(here);
	expect(lines[4]).toBe(`not found | ID: ${elsewhere.id}`);
	expect(left(world, channel)).toEqual(["here"]);
	denyBot(world, channel, PermissionFlagsBits.ReadMessageHistory);
	await world.heard();
	expect((await dryRun())[2]).toStartWith("Discord silently ignores ids");
});

test("a dry run by count shows the authors, and never the content", async () => {
	await using world = await startWorld();
	const contents = Array.from({ length: 7 }, (_, index) => `secret ${index}`);
	const { channel, texts } = write(world, contents, { "secret 0": 20 });
	const args = { channel_id: channel.id, count: 7, contains: "secret" };
	const dry = await world.call("delete_messages", { ...args, dry_run: true });
	const lines = dry.text.split("\n");
	expect(lines.slice(0, 3)).toEqual([
		"Dry run: nothing was done.",
		`Would delete 6 message(s) from #${channel.name} (ID: ${channel.id}).`,
		"The latest 5:",
	]);
	for (const [index, line] of lines.slice(3, 8).entries())
		expect(line).toMatch(
			new RegExp(
				`^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ by @ada \\(ID: \\d+\\) \\| ID: ${texts.at(-1 - index)}$`,
			),
		);
	expect(lines[8]).toContain(`1 over 14 days old`);
	expect(lines).toHaveLength(9);
	expect(left(world, channel)).toHaveLength(7);
	const real = await world.call("delete_messages", args);
	expect(`${dry.text}${real.text}`).not.toContain("secret");
	expect(left(world, channel)).toEqual(["secret 0"]);
});

test.each([
	[{}, "message_ids, count: expected exactly one"],
	[
		{ count: 1, message_ids: ["1".repeat(18)] },
		"message_ids, count: expected exactly one",
	],
	[
		{ message_ids: ["1".repeat(18)], contains: "x" },
		"author_id, contains: expected only together with count",
	],
	[
		{ message_ids: ["1".repeat(18)], author_id: "1".repeat(18) },
		"author_id, contains: expected only together with count",
	],
	[{ count: 101 }, "count: expected an integer from 1 to 100"],
	[{ count: 0 }, "count: expected an integer from 1 to 100"],
	[{ message_ids: ["x"] }, "message_ids.0: expected an id"],
])("delete_messages refuses %j", async (args, fault) => {
	const world = await shared();
	const { channel } = write(world, ["a"]);
	const { text, code } = await world.call("delete_messages", {
		channel_id: channel.id,
		...args,
	});
	expect(code).toBe(-32602);
	expect(text).toContain(fault);
	expect(left(world, channel)).toEqual(["a"]);
});

test("without the Message Content Intent, contains is refused and names the intent", async () => {
	const seed = demoSeed();
	await using world = await startWorld({
		seed: {
			...seed,
			bots: [
				{ username: "alpha", privilegedIntents: ["GuildMembers"] },
				{ username: "beta" },
			],
		},
	});
	const { channel } = write(world, ["a"]);
	const call = (args: object) =>
		world.call("delete_messages", { channel_id: channel.id, ...args });
	const { text, isError } = await call({ count: 1, contains: "a" });
	expect(isError).toBe(true);
	expect(text).toContain("Message Content Intent");
	expect(left(world, channel)).toEqual(["a"]);
	expect((await call({ count: 1 })).isError).toBe(false);
	expect(left(world, channel)).toEqual([]);
});

test("a failed read deletes nothing", async () => {
	await using world = await startWorld();
	const { channel } = write(world, ["a", "b"]);
	world.simulator.faults.fail("GET /channels/*/messages", 500);
	const { text, isError } = await world.call("delete_messages", {
		channel_id: channel.id,
		count: 2,
	});
	expect(isError).toBe(true);
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
	const channel = world.channels.add(guild, {
		name: `channel-${guild.channels.size}`,
	});
	const texts = contents.map((content, index) => {
		const name = authors[index % authors.length] ?? "ada";
		const author = userNamed({ simulator }, name);
		const age = ages[content];
		return world.messages.add(channel, author, {
			content,
			...(age !== undefined && {
				id: world.state.newId(Date.now() - age * dayMs),
			}),
		}).id;
	});
	return { channel, texts };
}

function left({ simulator }: TestWorld, channel: GuildChannel): string[] {
	return simulator.world.messages.in(channel.id).map(({ content }) => content);
}
