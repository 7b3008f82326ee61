import { describe, expect, test } from "bun:test";
import { readDocument } from "../../src/guild-document/format/document.ts";
import { mergeDocuments } from "../../src/guild-document/format/merge.ts";

const base = readDocument({
	version: 1,
	omitted: "default",
	settings: { name: "Guild", afk_timeout: "5m" },
	roles: [{ name: "Mods", color: "#FF0000" }, { name: "VIP" }],
	channels: [{ name: "welcome", topic: "Hello" }],
	categories: [
		{ name: "Talk", channels: [{ name: "general" }, { name: "memes" }] },
		{ name: "Staff", channels: [{ name: "mod-chat" }] },
	],
	members: [{ id: "12345678901234567", roles: ["VIP"] }],
});
const merged = (changes: object) => mergeDocuments(base, readDocument({ version: 1, ...changes }));

test("fields of what both list are changed, the others stay", () => {
	expect(
		merged({
			settings: { afk_timeout: "15m" },
			roles: [{ name: "Mods", hoist: true }],
			channels: [{ name: "welcome", slowmode: "5s" }],
			categories: [{ name: "Talk", channels: [{ name: "memes", nsfw: true }] }],
		}),
	).toEqual({
		...base,
		settings: { name: "Guild", afk_timeout: "15m" },
		roles: [{ name: "Mods", color: "#FF0000", hoist: true }, { name: "VIP" }],
		channels: [{ name: "welcome", topic: "Hello", slowmode: "5s" }],
		categories: [
			{ name: "Talk", channels: [{ name: "general" }, { name: "memes", nsfw: true }] },
			{ name: "Staff", channels: [{ name: "mod-chat" }] },
		],
	});
});

test("what only the changes list is added", () => {
	const { roles, channels, categories, members } = merged({
		roles: [{ name: "New" }],
		channels: [{ name: "rules" }],
		categories: [
			{ name: "Staff", channels: [{ name: "logs" }] },
			{ name: "Games", channels: [{ name: "chess" }] },
		],
		members: [
			{ id: "12345678901234567", roles: ["Mods"] },
			{ id: "22345678901234567", roles: [] },
		],
	});
	expect(roles?.map(({ name }) => name)).toEqual(["Mods", "VIP", "New"]);
	expect(channels?.map(({ name }) => name)).toEqual(["welcome", "rules"]);
	expect(categories?.map(({ name, channels }) => [name, channels?.map(({ name }) => name)])).toEqual([
		["Talk", ["general", "memes"]],
		["Staff", ["mod-chat", "logs"]],
		["Games", ["chess"]],
	]);
	expect(members).toEqual([
		{ id: "12345678901234567", roles: ["Mods"] },
		{ id: "22345678901234567", roles: [] },
	]);
});

test("what the changes list is in their order, with new things below what they are listed after", () => {
	const { roles, channels, categories } = merged({
		roles: [{ name: "VIP" }, { name: "New" }, { name: "Mods" }],
		channels: [{ name: "rules" }, { name: "welcome" }],
		categories: [
			{ name: "Staff" },
			{ name: "Games" },
			{ name: "Talk", channels: [{ name: "memes" }, { name: "general" }] },
		],
	});
	expect(roles?.map(({ name }) => name)).toEqual(["VIP", "New", "Mods"]);
	expect(channels?.map(({ name }) => name)).toEqual(["rules", "welcome"]);
	expect(categories?.map(({ name }) => name)).toEqual(["Staff", "Games", "Talk"]);
	expect(categories?.[2]?.channels?.map(({ name }) => name)).toEqual(["memes", "general"]);
});

test("a channel that the changes list elsewhere moves with its settings", () => {
	const { channels, categories } = merged({
		categories: [
			{ name: "Staff", channels: [{ name: "welcome", nsfw: true }] },
			{ name: "New", channels: [{ name: "memes" }] },
		],
		channels: [{ name: "general" }],
	});
	expect(channels).toEqual([{ name: "general" }]);
	expect(categories).toEqual([
		{ name: "Talk", channels: [] },
		{ name: "Staff", channels: [{ name: "mod-chat" }, { name: "welcome", topic: "Hello", nsfw: true }] },
		{ name: "New", channels: [{ name: "memes" }] },
	]);
});

test("a thing is renamed by its key", () => {
	expect(merged({ roles: [{ key: "VIP", name: "Supporters" }] }).roles?.[1]).toEqual({
		key: "VIP",
		name: "Supporters",
	});
});

describe("which thing a change is about", () => {
	const guild = readDocument({
		omitted: "default",
		settings: { system_channel: "Talk/general" },
		roles: [
			{ name: "VIP", id: "12345678901234567" },
			{ name: "Mods", key: "Mods (1)" },
			{ name: "Mods", key: "Mods (2)" },
		],
		categories: ["Talk", "Staff"].map((name) => ({ name, channels: [{ name: "general", key: `${name}/general` }] })),
	});
	const changed = (changes: object) => mergeDocuments(guild, readDocument({ version: 1, ...changes }));

	test("one with the same id is renamed, and keeps the key that others refer to", () => {
		const change = { name: "Supporters", id: "12345678901234567" };
		expect(changed({ roles: [change] }).roles?.[0]).toEqual({
			name: "Supporters",
			id: "12345678901234567",
			key: "VIP",
		});
	});
	test("in its category, the only one with the name", () => {
		const staff = { name: "Staff", channels: [{ name: "general", nsfw: true }] };
		expect(changed({ categories: [staff] }).categories).toEqual([
			...(guild.categories?.slice(0, 1) ?? []),
			{ name: "Staff", channels: [{ name: "general", key: "Staff/general", nsfw: true }] },
		]);
	});
	test("of several with the name, none: it is another one", () => {
		expect(changed({ roles: [{ name: "Mods", hoist: true }] }).roles).toHaveLength(4);
	});
	test("by its key it is found in another category, and moves", () => {
		const channel = { name: "general", key: "Talk/general", topic: "Hi" };
		const { categories } = changed({ categories: [{ name: "Staff", channels: [channel] }] });
		expect(categories?.map(({ channels }) => channels)).toEqual([
			[],
			[{ name: "general", key: "Staff/general" }, channel],
		]);
	});
});
