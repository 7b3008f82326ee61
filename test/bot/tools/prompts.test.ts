// The prompts of a bot, by the configuration and the guilds that it has.

import { describe, expect, test } from "bun:test";
import type { BotContext } from "../../../src/bot/tool/context.ts";
import { callingTools, tools } from "../../../src/bot/tools/index.ts";
import { promptsFor } from "../../../src/bot/tools/prompts.ts";
import { getPrompt, listPrompts } from "../../../src/mcp/prompts.ts";

const cooks = { id: "123456789012345678", name: "The Cooks" };
const all = [...tools, ...callingTools];
const names = all.map(({ name }) => name);
const listed = all.filter(({ offered }) => offered === "listed").map(({ name }) => name);

const promptsOf = (allowed: readonly string[], guildId?: string) =>
	promptsFor({
		connection: { guilds: [cooks, { id: "223456789012345678", name: "The Bakers" }] },
		guildId,
		self: { tools: allowed.map((name) => ({ name })) },
	} as unknown as BotContext);
const textOf = (name: string, args: object, guildId?: string) =>
	JSON.stringify(getPrompt(promptsOf(names, guildId), { name, arguments: args }));

test("there is a prompt for each job, with a guild_id, in less than 2 KiB", () => {
	const prompts = promptsOf(names);
	expect(prompts.map(({ name }) => name)).toEqual([
		"set_up_guild",
		"clean_up_after_raid",
		"review_permissions",
		"weekly_report",
		"copy_to_community",
	]);
	for (const prompt of prompts) expect(prompt.arguments.at(-1)?.name).toBe("guild_id");
	expect(Buffer.byteLength(listPrompts(prompts))).toBeLessThan(2_048);
});

test("a prompt is offered only if its tools are allowed", () => {
	const without = names.filter((name) => name !== "ban");
	expect(promptsOf(without).map(({ name }) => name)).not.toContain("clean_up_after_raid");
});

describe.each(promptsOf(names).map(({ name }) => [name]))("%s", (name) => {
	test("names only tools that there are, and says which need find_tools", () => {
		const text = textOf(name, {});
		const mentioned = text.match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? [];
		const args = new Set(tools.flatMap(({ listing }) => Object.keys(Object(listing.inputSchema.properties))));
		const unlisted = mentioned.filter((word) => names.includes(word) && !listed.includes(word));
		for (const word of mentioned) expect(names.includes(word) || args.has(word) ? word : `? ${word}`).toBe(word);
		if (unlisted.length > 0) expect(text).toMatch(/find_tools|use_(?:reading_)?tool/);
	});

	test("says where to act", () => {
		expect(textOf(name, {})).toContain("Ask me which guild is meant");
		expect(textOf(name, {}, cooks.id)).toContain(`guild_id=\\"${cooks.id}\\"`);
		expect(textOf(name, { guild_id: cooks.id })).toContain(cooks.id);
		expect(() => textOf(name, { guild_id: "323456789012345678" })).toThrow(
			"guild_id: expected the id of a guild in which this bot's tools may act",
		);
	});
});

test("what a person gives is in the text", () => {
	expect(textOf("set_up_guild", { plan: "a club for chess" })).toContain("What it should have: a club for chess");
	const raid = textOf("clean_up_after_raid", { since: "3h", actor: "mallory" });
	expect(raid).toContain("everything since 3h");
	expect(raid).toContain("The account mallory was taken over");
	expect(textOf("weekly_report", {})).toContain("since 7d");
	const copied = textOf("copy_to_community", { from: "The Bakers", what: "the category Events" });
	expect(copied).toContain("Copy the category Events from the guild The Bakers into this guild.");
	expect(textOf("copy_to_community", {})).toContain("Ask me what to copy.");
});

test("guild_id is completed by the names of guilds", () => {
	const [prompt] = promptsOf(names);
	expect(prompt?.complete?.("guild_id", "cook")).toEqual([cooks.id]);
	expect(prompt?.complete?.("plan", "cook")).toEqual([]);
});
