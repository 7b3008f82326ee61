// Which tools a bot offers, and which guilds they may touch.

import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import { toml } from "../../../src/bot/config/settings.ts";
import {
	type ToolChoice,
	toolsetNames,
} from "../../../src/bot/config/tool-choice.ts";
import {
	donatorToolNames,
	donatorTools,
} from "../../../src/bot/game/donator-tools.ts";
import { chooseTools, isDefault } from "../../../src/bot/tool/toolsets.ts";
import { tools } from "../../../src/bot/tools/index.ts";
import { until } from "../../support/until.ts";
import { startWorld } from "../../support/world.ts";

const all: ToolChoice = {
	toolsets: "all",
	read_only: false,
	tools: { deny: [] },
};
const namesOf = (choice: Partial<ToolChoice>) =>
	chooseTools(tools, { ...all, ...choice }).map(({ name }) => name);
/** They are offered where the feature is on. */
const never = () => Promise.reject(new Error("only its listing is wanted"));
const gameTools = donatorTools({ plan: never, apply: never });
const readers = tools
	.filter(({ listing }) => Object(listing.annotations).readOnlyHint)
	.map(({ name }) => name);

describe("the choice", () => {
	test("of all is all, in their order", () => {
		expect(namesOf({})).toEqual(tools.map(({ name }) => name));
	});

	test.each(toolsetNames.map((name) => [name]))(
		"of %s is the tools that belong to it",
		(toolset) => {
			expect(namesOf({ toolsets: [toolset] })).toEqual(
				tools
					.filter((tool) => tool.toolset === toolset)
					.map(({ name }) => name),
			);
		},
	);

	test("of the default and a set beside it is both, without what is extra in others", () => {
		const names = namesOf({ toolsets: ["default", "audit"] });
		expect(names).toEqual(
			tools
				.filter((tool) => isDefault(tool) || tool.toolset === "audit")
				.map(({ name }) => name),
		);
		expect(names).toContain("get_member");
		expect(names).toContain("list_recent_tool_calls");
		expect(names).not.toContain("clone_channel");
		expect(namesOf({ toolsets: ["channels"] })).toContain("clone_channel");
	});

	test("of what only reads has no tool that changes anything", () => {
		expect(readers.length).toBeGreaterThan(2);
		expect(namesOf({ read_only: true })).toEqual(readers);
	});

	test("leaves out what is denied", () => {
		const denied = ["ban", "send_message"];
		expect(namesOf({ tools: { deny: denied } })).toEqual(
			tools.map(({ name }) => name).filter((name) => !denied.includes(name)),
		);
	});

	test("of tools to deny is the same whether or not they are offered: those of the game can be named", () => {
		expect(gameTools.map(({ name }) => name)).toEqual([...donatorToolNames]);
		expect(namesOf({ tools: { deny: [...donatorToolNames] } })).toEqual(
			namesOf({}),
		);
	});

	test("by default costs a model less than 48 KiB", () => {
		const listed = chooseTools([...tools, ...gameTools], {
			...all,
			toolsets: ["default"],
		});
		const text = JSON.stringify({
			tools: listed.map(({ listing }) => listing),
		});
		expect(Buffer.byteLength(text)).toBeLessThan(48 * 1024);
	});

	test("by default offers every tool that the specification names", () => {
		const named =
			"list_guilds list_members lookup_user_by_name send_message delete_messages create_channel edit_channel edit_role ban set_channel_permissions";
		expect(namesOf({ toolsets: ["default"] })).toEqual(
			expect.arrayContaining(named.split(" ")),
		);
	});
});

/** A bot whose `[mcp]` is this. */
const startChosen = (mcp: object) =>
	startWorld({}, { toml: v.parse(toml, { bot_name: "Alpha", mcp }) });

test("what is off is neither listed nor callable, by no name", async () => {
	await using bot = await startChosen({ read_only: true, toolsets: "all" });
	const listed = (await bot.mcp.listTools()).map(({ name }) => name);
	expect(listed).toEqual(readers);
	const { id } = bot.simulator.user("ada");
	for (const name of ["ban", "ban_member"])
		expect(await bot.call(name, { user_id: id })).toEqual({
			text: `Method not found: ${name}`,
			isError: true,
			code: -32601,
		});
	expect(bot.simulator.journal.entries()).toEqual([]);
});

test("an alias is not listed, and does what its tool does", async () => {
	await using bot = await startChosen({ toolsets: ["default", "audit"] });
	const listed = (await bot.mcp.listTools()).map(({ name }) => name);
	expect(listed).toContain("ban");
	expect(listed).not.toContain("ban_member");
	const { id } = bot.simulator.user("zoe");
	const { text } = await bot.call("ban_member", { user_id: id });
	expect(text).toContain("Banned");
	await until("it is on record under its own name", async () =>
		(await bot.call("list_recent_tool_calls")).text.includes("| ban | done |"),
	);
});

test("a guild that is not among mcp.guilds is neither listed nor touched", async () => {
	const other = "223456789012345678";
	await using bot = await startChosen({ guilds: [other] });
	expect((await bot.call("list_guilds")).text).toBe("0 guild(s):");
	const { id } = bot.simulator.guild("The Cooks");
	for (const args of [{}, { guild_id: id }])
		expect(await bot.call("list_members", args)).toEqual({
			text: `The operator of this bot has not enabled tools for the guild ${id}. Use list_guilds to find guilds where they are.`,
			isError: true,
		});
});
