// What a message's line shows, of kinds of messages that Discord sends and the simulator does not.

import { expect, test } from "bun:test";
import type { APIMessage } from "discord.js";
import { messageLine, messageTexts } from "../../src/bot/message-lines.ts";

const ada = { id: "100000000000000001", username: "ada" };
const plain = {
	id: "100000000000000002",
	channel_id: "100000000000000003",
	type: 0,
	author: ada,
	content: "",
	timestamp: "2026-01-31T12:00:00.500000+00:00",
	edited_timestamp: null,
	embeds: [],
	attachments: [],
	components: [],
	pinned: false,
};
const message = (fields: object) =>
	({ ...plain, ...fields }) as unknown as APIMessage;
const head =
	"2026-01-31T12:00:00Z by @ada (ID: 100000000000000001) | ID: 100000000000000002";

test.each([
	["nothing to see", {}, ""],
	["text", { content: "a | b\nc" }, " | text: a \\| b\\nc"],
	[
		"an attachment",
		{
			attachments: [
				{
					filename: "menu\n.png",
					content_type: "image/png",
					size: 12,
					url: "https://cdn/menu.png?ex=1",
					description: "a menu",
				},
				{ filename: "x", size: 1, url: "https://cdn/x" },
			],
		},
		' | attachment: menu\\n.png (image/png, 12 bytes, described as "a menu") https://cdn/menu.png?ex=1 | attachment: x (unknown type, 1 bytes) https://cdn/x',
	],
	[
		"an embed",
		{
			embeds: [
				{
					title: "Menu",
					description: "soup\nbread",
					url: "https://menu",
					author: { name: "Cook" },
					footer: { text: "small" },
					fields: [{ name: "Price", value: "3 | 4" }],
				},
				{},
			],
		},
		" | embed: Cook / Menu / soup\\nbread / Price: 3 \\| 4 / small / https://menu | embed: empty",
	],
	[
		"components with text",
		{
			components: [
				{
					type: 17,
					components: [
						{
							type: 9,
							components: [{ type: 10, content: "# Hi\nthere" }],
							accessory: { type: 2, label: "Press" },
						},
					],
				},
			],
		},
		" | components: # Hi\\nthere / [Press]",
	],
	[
		"a reply",
		{
			type: 19,
			message_reference: { message_id: "7" },
			referenced_message: message({ id: "7" }),
		},
		" | reply to: 7 by @ada (ID: 100000000000000001)",
	],
	[
		"a reply to what is gone",
		{
			type: 19,
			message_reference: { message_id: "7" },
			referenced_message: null,
		},
		" | reply to: 7, deleted",
	],
	[
		"a forwarded message",
		{
			message_reference: { type: 1, message_id: "7", channel_id: "8" },
			message_snapshots: [
				{
					message: {
						content: "old\nnews",
						embeds: [{ title: "E" }],
						attachments: [{ filename: "f", size: 2, url: "https://f" }],
					},
				},
			],
		},
		" | forwarded: message 7 of the channel 8 | forwarded text: old\\nnews | forwarded embed: E | forwarded attachment: f (unknown type, 2 bytes) https://f",
	],
	["Discord's own message", { type: 6 }, " | kind: ChannelPinnedMessage"],
	["a kind yet unknown", { type: 999 }, " | kind: 999"],
	[
		"stickers and a poll",
		{
			sticker_items: [{ name: "Wave|" }],
			poll: {
				question: { text: "Soup?" },
				answers: [
					{ answer_id: 1, poll_media: { text: "yes" } },
					{ answer_id: 2, poll_media: { text: "no" } },
				],
				results: { answer_counts: [{ id: 1, count: 3 }] },
			},
		},
		" | stickers: Wave\\| | poll: Soup? / yes (3) / no (0)",
	],
	[
		"reactions",
		{
			reactions: [
				{ emoji: { id: null, name: "👍" }, count: 2, me: true },
				{ emoji: { id: "9", name: "bread" }, count: 1, me: false },
				{ emoji: { id: "8", name: null }, count: 1, me: false },
			],
		},
		" | reactions: 👍 2 (the bot too), <:bread:9> 1, <:_:8> 1",
	],
	[
		"a thread, an edit and a pin",
		{
			thread: { id: "5", name: "more\nsoup", message_count: 4 },
			edited_timestamp: "2026-02-01T00:00:00Z",
			pinned: true,
		},
		" | thread: #more\\nsoup (ID: 5, 4 message(s)) | edited: 2026-02-01T00:00:00Z | pinned",
	],
])("a line shows %s", (_, fields, shown) => {
	expect(messageLine(message(fields))).toBe(head + shown);
});

test("a line says who is a bot, and what came by a webhook under a name of its own", () => {
	expect(messageLine(message({ author: { ...ada, bot: true } }))).toContain(
		"@ada (ID: 100000000000000001) [bot] |",
	);
	const webhook = { webhook_id: "1", author: { ...ada, bot: true } };
	expect(messageLine(message(webhook))).toContain(") [webhook] |");
});

test("words are looked for in text, embeds, files, components and what is forwarded", () => {
	const inner = {
		content: "a",
		embeds: [{ title: "b" }],
		attachments: [{ filename: "c" }],
		components: [{ type: 10, content: "d" }],
	};
	const outer = {
		...inner,
		content: "e",
		message_snapshots: [{ message: inner }],
	};
	expect(messageTexts(message(outer)).join("")).toBe("ebdcabdc");
});
