// What a message's line shows, of kinds of messages that Discord sends and the simulator does not.

import { expect, test } from "bun:test";
import type { APIMessage } from "discord.js";
import { fullMessageLine, messageLine, messageTexts } from "../../../src/bot/messages/message-lines.ts";

const ada = { id: "100000000000000001", username: "ada" };
const plain = {
	id: "100000000000000002",
	channel_id: "100000000000000003",
	type: 0,
	author: ada,
	content: "",
	mentions: [],
	timestamp: "2026-01-31T12:00:00.500000+00:00",
	edited_timestamp: null,
	embeds: [],
	attachments: [],
	components: [],
	pinned: false,
};
const message = (fields: object) => ({ ...plain, ...fields }) as unknown as APIMessage;
const head = "2026-01-31T12:00:00Z by @ada (ID: 100000000000000001) | ID: 100000000000000002";

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
		"the components of newer messages",
		{
			flags: 1 << 15,
			components: [
				{
					type: 17,
					components: [
						{
							type: 9,
							components: [{ type: 10, content: "# Hi\nthere" }],
							accessory: { type: 11, media: { url: "https://cdn/t.png" }, description: "a | leek" },
						},
						{ type: 14, divider: true },
						{
							type: 12,
							items: [
								{ media: { url: "https://cdn/a.png" }, description: "soup" },
								{ media: { url: "https://cdn/b.png" }, description: null },
							],
						},
						{ type: 13, name: "menu.pdf", size: 12, file: { url: "https://cdn/menu.pdf" } },
					],
				},
				{ type: 99, components: [{ type: 10, content: "of tomorrow" }] },
			],
		},
		' | components: # Hi\\nthere / thumbnail: https://cdn/t.png, described as "a \\| leek" / --- / media: https://cdn/a.png, described as "soup" / media: https://cdn/b.png / file: menu.pdf (12 bytes) https://cdn/menu.pdf / of tomorrow',
	],
	[
		"buttons and selects",
		{
			components: [
				{
					type: 1,
					components: [
						{ type: 2, style: 1, label: "Press", custom_id: "a" },
						{ type: 2, style: 5, label: "Site", emoji: { id: null, name: "🍞" }, url: "https://bread" },
						{ type: 2, style: 1, emoji: { id: "9", name: "x|" }, disabled: true },
						{ type: 2, style: 6, sku_id: "7" },
					],
				},
				{
					type: 1,
					components: [
						{ type: 3, placeholder: "Dish", options: Array.from({ length: 12 }, (_, n) => ({ label: `d${n}` })) },
					],
				},
				{ type: 1, components: [{ type: 6, disabled: true }] },
			],
		},
		" | components: [Press] / [🍞 Site → https://bread] / [<:x\\|:9>, disabled] / [buy SKU 7] / [select: Dish (d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, … 2 more)] / [role select:, disabled]",
	],
	[
		"a reply",
		{ type: 19, message_reference: { message_id: "7" }, referenced_message: message({ id: "7" }) },
		" | reply to: 7 by @ada (ID: 100000000000000001)",
	],
	[
		"a reply, and the start of what it replies to",
		{
			type: 19,
			message_reference: { message_id: "7" },
			referenced_message: message({ id: "7", content: `a | b\n${"c".repeat(200)}` }),
			mentions: [ada],
		},
		` | reply to: 7 by @ada (ID: 100000000000000001) "a \\| b\\n${"c".repeat(93)}…" | mentions: @ada (ID: 100000000000000001)`,
	],
	[
		"a reply to a file",
		{
			type: 19,
			message_reference: { message_id: "7" },
			referenced_message: message({ id: "7", attachments: [{ filename: "soup.png" }] }),
		},
		' | reply to: 7 by @ada (ID: 100000000000000001) "soup.png"',
	],
	[
		"mentions",
		{ mention_everyone: true, mentions: [{ ...ada, global_name: "Ada |\nL." }], mention_roles: ["5"] },
		" | mentions: @everyone, Ada \\|\\nL. (@ada, ID: 100000000000000001), the role 5",
	],
	[
		"a reply to what is gone",
		{ type: 19, message_reference: { message_id: "7" }, referenced_message: null },
		" | reply to: 7, deleted",
	],
	[
		"a forwarded message",
		{
			message_reference: { type: 1, message_id: "7", channel_id: "8" },
			message_snapshots: [
				{
					message: {
						timestamp: "2026-01-30T12:00:00.500000+00:00",
						sticker_items: [{ name: "Wave" }],
						components: [{ type: 10, content: "old" }],
						content: "old\nnews",
						embeds: [{ title: "E" }],
						attachments: [{ filename: "f", size: 2, url: "https://f" }],
					},
				},
			],
		},
		" | forwarded: message 7 of 2026-01-30T12:00:00Z in the channel 8 | forwarded text: old\\nnews | forwarded embed: E | forwarded components: old | forwarded attachment: f (unknown type, 2 bytes) https://f | forwarded stickers: Wave",
	],
	["Discord's own message", { type: 6 }, " | kind: ChannelPinnedMessage"],
	["a kind yet unknown", { type: 999 }, " | kind: 999"],
	[
		"stickers and a poll",
		{
			sticker_items: [{ name: "Wave|" }],
			poll: {
				question: { text: "Soup?" },
				expiry: "2100-01-01T00:00:00Z",
				answers: [
					{ answer_id: 1, poll_media: { text: "yes" } },
					{ answer_id: 2, poll_media: { text: "no" } },
				],
				results: { answer_counts: [{ id: 1, count: 3 }] },
			},
		},
		" | stickers: Wave\\| | poll: Soup? | answer 1, 3 vote(s): yes | answer 2, 0 vote(s): no | poll open until: 2100-01-01T00:00:00Z",
	],
	[
		"a poll whose texts look like more, and whose votes are unknown",
		{
			poll: {
				question: { text: "Soup?\n| answer 1, 9 vote(s): forged" },
				expiry: null,
				allow_multiselect: true,
				answers: [{ answer_id: 1, poll_media: { text: "a | b\u2028", emoji: { id: "9", name: "x|" } } }],
			},
		},
		" | poll: Soup?\\n\\| answer 1, 9 vote(s): forged | answer 1, votes unknown: <:x\\|:9> a \\| b\\u{2028} | several answers allowed | poll open until: unknown",
	],
	[
		"a poll that has ended",
		{ poll: { question: { text: "?" }, expiry: "2020-01-31T12:00:00Z", answers: [] } },
		" | poll: ? | poll ended: 2020-01-31T12:00:00Z",
	],
	["a message that was published", { flags: 1 }, " | crossposted"],
	[
		"a message that was published elsewhere",
		{ flags: 2, message_reference: { message_id: "7", channel_id: "8", guild_id: "9" } },
		" | crosspost of: message 7 of the channel 8 of the guild 9",
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

test("a list shortens long embeds, and link previews more; a single message has all of them", () => {
	const long = (type: string) => ({
		type,
		title: "T",
		description: "d".repeat(1000),
		url: "https://soup",
		image: { url: "https://soup/png" },
	});
	const fields = { embeds: [long("rich"), long("article")] };
	expect(messageLine(message(fields))).toBe(
		`${head} | embed: T / ${"d".repeat(595)}… / https://soup | embed: T / ${"d".repeat(195)}… / https://soup`,
	);
	const whole = ` | embed: T / ${"d".repeat(1000)} / https://soup / https://soup/png`;
	expect(fullMessageLine(message(fields))).toBe(head + whole + whole);
});

test("an author is shown by display name and username", () => {
	const author = { ...ada, global_name: "Ada (@bob, ID: 7)" };
	expect(messageLine(message({ author }))).toContain("by Ada (@bob, ID\\: 7) (@ada, ID: 100000000000000001) |");
});

test("a line says who is a bot, and what came by a webhook under a name of its own", () => {
	expect(messageLine(message({ author: { ...ada, bot: true } }))).toContain("@ada (ID: 100000000000000001) [bot] |");
	const webhook = { webhook_id: "1", author: { ...ada, bot: true } };
	expect(messageLine(message(webhook))).toContain(") [webhook] |");
});

test("words are looked for in text, embeds, files, components, polls and what is forwarded", () => {
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
		poll: { question: { text: "f" }, answers: [{ poll_media: { text: "g" } }] },
	};
	expect(messageTexts(message(outer)).join("")).toBe("ebdcabdcfg");
});
