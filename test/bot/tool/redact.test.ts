// What the audit log keeps of a call's arguments.

import { expect, test } from "bun:test";
import { hide, redact } from "../../../src/bot/tool/redact.ts";
import { tools } from "../../../src/bot/tools/index.ts";
import type { JsonSchema } from "../../../src/mcp/json-schema.ts";

function schemaOf(name: string): JsonSchema {
	const tool = tools.find((one) => one.name === name);
	if (!tool) throw new Error(`no tool ${name}`);
	return tool.listing.inputSchema;
}

const id = "900719925474099312";
const ids = { guild_id: id, channel_id: id, reply_to: id };
const harmless = { ...ids, mentions: "none", silent: true };

test.each<[string, Record<string, unknown>, unknown]>([
	[
		"apply_guild",
		{ guild_id: id, plan_hash: "0a".repeat(16), reason: "because" },
		{ guild_id: id, plan_hash: "0a".repeat(16), reason: "because" },
	],
	["get_job", { job_id: "0123456789ab" }, { job_id: "0123456789ab" }],
	["get_job", { job_id: "a secret" }, { job_id: "[8 characters]" }],
	[
		"plan_guild",
		{ document: { roles: [{ name: "abc" }] }, prune: true },
		{ document: { "…": "unknown: roles" }, prune: true },
	],
	["send_message", { ...harmless, content: "Speak" }, { ...harmless, content: "[5 characters]" }],
	[
		"send_message",
		{
			channel_id: "general",
			content: 5,
			mentions: "whoever",
			embeds: [{ title: "abc", color: 255, fields: [{ name: "n", inline: true }] }],
		},
		{
			channel_id: "[7 characters]",
			content: "[a number]",
			mentions: "[7 characters]",
			// Of what is in them nothing is published, and so nothing is kept.
			embeds: [{ "…": "unknown: title, color, fields" }],
		},
	],
	[
		"create_poll",
		{ answers: [{ text: "abc", emoji: 5, shown: true }], duration: "90 min" },
		{ answers: [{ text: "[3 characters]", emoji: "[a number]", "…": "unknown: shown" }], duration: "90 min" },
	],
	[
		"edit_role",
		{
			role_id: id,
			name: "VIEW_CHANNEL2",
			add_permissions: ["VIEW_CHANNEL", "send_messages", "my secret"],
			color: "#8E44AD",
			reason: "because",
		},
		{
			role_id: id,
			name: "VIEW_CHANNEL2",
			add_permissions: ["VIEW_CHANNEL", "send_messages", "[9 characters]"],
			color: "#8E44AD",
			reason: "because",
		},
	],
	[
		"set_channel_permissions",
		{ channel_ids: [id], allow: ["SPEAK", "2048", "my secret"] },
		{ channel_ids: [id], allow: ["SPEAK", "2048", "[9 characters]"] },
	],
	[
		"send_message",
		{ content: { text: "deep" }, channel_id: [id], embeds: "x", nsfw: null },
		{ content: "[object]", channel_id: "[1 items]", embeds: "[1 characters]", "…": "unknown: nsfw" },
	],
	["timeout", { user_ids: [id, "zoe"], duration: "5m" }, { user_ids: [id, "[3 characters]"], duration: "5m" }],
	["timeout", { duration: "5m, said Ann" }, { duration: "[12 characters]" }],
	["get_member", { user_ids: [id] }, { user_ids: [id] }],
	[
		"create_scheduled_event",
		{ scheduled_start_time: "2026-01-31T12:00:00Z" },
		{ scheduled_start_time: "2026-01-31T12:00:00Z" },
	],
	["list_guilds", {}, {}],
	["list_guilds", { "my password is x": 1, guid_id: "a secret" }, { "…": "unknown: [16 characters], guid_id" }],
	["list_guilds", JSON.parse('{"__proto__": "x"}'), { "…": "unknown: __proto__" }],
])("%s %j", (name, args, kept) => {
	const schema = schemaOf(name);
	expect(JSON.parse(redact(schema, args))).toEqual(kept);
});

test("of settings, what is no text is kept", () => {
	const settings = {
		"moderation.raid": "20 joins in 60s",
		"spam.on": true,
		"moderation.tell": ["ban", "a text"],
		tags: {},
	};
	const kept = { ...settings, "moderation.tell": ["ban", "[6 characters]"], tags: "[named texts]" };
	const schema = { type: "object", properties: { settings: { type: "object" } } };
	expect(JSON.parse(redact(schema, { settings }))).toEqual({ settings: kept });
});

const canary = "hunter2 swordfish";

/** Arguments with the canary wherever a tool takes text. */
function withCanaries(schema: JsonSchema, key = ""): unknown {
	if (schema.type === "array") return [withCanaries(schema.items as JsonSchema, key)];
	if (schema.type !== "object") return /^(name|nickname|reason|topic|emoji)$/.test(key) ? "kept" : canary;
	// What publishes no fields takes some all the same.
	if (!schema.properties) return { title: canary };
	const properties = schema.properties as Record<string, JsonSchema>;
	return Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, withCanaries(one, name)]));
}

test.each(tools.map(({ name }) => name))("%s keeps its ids and no text", (name) => {
	const schema = schemaOf(name);
	const texts = withCanaries(schema) as Record<string, unknown>;
	const kept = redact(schema, texts);
	expect(Object.keys(JSON.parse(kept))).toEqual(Object.keys(texts));
	expect(kept).not.toMatch(/hunter2|swordfish/);
	const names = Object.keys(schema.properties as object);
	const ids = names.filter((one) => one.endsWith("_id"));
	const args = Object.fromEntries(ids.map((one) => [one, one === "job_id" ? "0123456789ab" : id]));
	expect(JSON.parse(redact(schema, args))).toEqual(args);
});

test("lists and the whole are bounded", () => {
	const schema = schemaOf("delete_messages");
	const message_ids = Array.from({ length: 100 }, () => id);
	const kept = JSON.parse(redact(schema, { message_ids }));
	expect(kept.message_ids).toHaveLength(51);
	expect(kept.message_ids[50]).toBe("[50 more]");
	const tag = { id, name: "a long name", moderated: true, emoji: "an emoji" };
	const tags = Array.from({ length: 50 }, () => tag);
	const long = redact(schemaOf("edit_channel"), { tags });
	expect(long).toMatch(/^\{"…":"\d+ characters"\}$/);
});

test("digits that no pattern of ids allows may be a code", () => {
	const schema = {
		type: "object",
		properties: {
			code: { type: "string", pattern: "^\\d{6}$" },
			note: { type: "string" },
			id: { type: "string", pattern: "^\\d{17,20}$" },
		},
	};
	expect(JSON.parse(redact(schema, { code: "123456", note: id, id }))).toEqual({
		code: "[6 characters]",
		note: "[18 characters]",
		id,
	});
});

test("of a choice of numbers only what can be chosen is kept", () => {
	const schema = { type: "object", properties: { size: { type: "integer", enum: [16, 32] } } };
	const kept = (size: number) => JSON.parse(redact(schema, { size }));
	expect(kept(32)).toEqual({ size: 32 });
	expect(kept(123_456)).toEqual({ size: "[a number]" });
});

test("an error names wrong ids and choices, and not what people wrote", () => {
	const schema = schemaOf("send_message");
	const args = {
		channel_id: "general",
		content: "the words of a message",
		mentions: "whoever",
		embeds: [{ title: "words" }],
	};
	const error = 'channel_id: "general"; mentions: "whoever"; content: "the words of a message"; title: words';
	expect(hide(error, schema, args)).toBe(
		'channel_id: "general"; mentions: "whoever"; content: "[22 characters]"; title: [5 characters]',
	);
});
