// Which tools a bot offers, and which guilds they may touch.

import { describe, expect, test } from "bun:test";
import { type ToolChoice, toolsetNames } from "../../../../src/bot/config/tool-choice.ts";
import { deniableTools } from "../../../../src/bot/features/index.ts";
import { donatorTools } from "../../../../src/bot/game/donator-tools.ts";
import type { BotTool } from "../../../../src/bot/tool/context.ts";
import {
	accessors,
	describeOff,
	OfferedTools,
	offerTools,
	type ToolScope,
} from "../../../../src/bot/tool/search/offered-tools.ts";
import { callingTools, tools as realTools } from "../../../../src/bot/tools/index.ts";
import { until } from "../../../support/until.ts";
import { startWorld } from "../../../support/world.ts";

const tools: readonly BotTool[] = [...realTools, ...callingTools];
const open: ToolChoice = { read_only: false, tools: { deny: [] } };
const offer = (choice: Partial<ToolChoice>, of = tools) => new OfferedTools(of, { ...open, ...choice });
const names = (list: readonly BotTool[]) => list.map(({ name }) => name);
const byDefault = names(tools.filter(({ offered }) => offered === "listed"));
const allowed = (choice: Partial<ToolChoice>) => names(offer(choice).allowed);
const listed = (choice: Partial<ToolChoice>) => names(offer(choice).listed);
const accessorNames = Object.values(accessors);

test("two tools of one name are a bug at the start", () => {
	expect(() => offer({}, [...tools, ...tools])).toThrow(TypeError);
});

const withoutAccessors = (list: readonly string[]) => list.filter((name) => !accessorNames.some((one) => one === name));
const gameTools = donatorTools(() => undefined);
const readers = tools.filter(({ listing }) => Object(listing.annotations).readOnlyHint).map(({ name }) => name);

describe("what is allowed and listed", () => {
	test("without a choice, all tools are allowed and the default tools listed", () => {
		expect(allowed({})).toEqual(names(tools));
		expect(listed({})).toEqual(byDefault);
	});

	test("what toolsets name is allowed and listed, without the tools that reach others", () => {
		for (const toolset of toolsetNames.filter((name) => name !== "core")) {
			const its = names(tools.filter((tool) => tool.toolset === toolset));
			expect(withoutAccessors(allowed({ toolsets: [toolset] }))).toEqual(its);
			expect(listed({ toolsets: [toolset] })).toEqual(its);
		}
		expect(listed({ toolsets: "all" })).toEqual(withoutAccessors(names(tools)));
	});

	test('"default" among the toolsets is what it was, without what is extra in them', () => {
		const chosen = listed({ toolsets: ["default", "audit"] });
		expect(chosen).toContain("get_member");
		expect(chosen).toContain("list_recent_tool_calls");
		expect(chosen).not.toContain("clone_channel");
		expect(listed({ toolsets: ["channels"] })).toContain("clone_channel");
	});

	test("list chooses among what is allowed, by toolset and by name", () => {
		const choice = { toolsets: ["roles", "threads"] as const };
		const threads = names(tools.filter(({ toolset }) => toolset === "threads"));
		expect(withoutAccessors(listed({ ...choice, list: ["threads", "ban"] }))).toEqual(threads);
		expect(listed({ ...choice, list: ["threads"] })).toEqual([...threads, ...accessorNames]);
		expect(withoutAccessors(listed({ list: ["default", "events"] }))).toEqual(
			withoutAccessors(names(tools)).filter(
				(name) => byDefault.includes(name) || name.includes("scheduled_event") || name === "get_event_users",
			),
		);
		expect(listed({ list: "all" })).toEqual(withoutAccessors(names(tools)));
	});

	test("with read_only there is no tool that changes anything, and none that reaches one", () => {
		expect(readers.length).toBeGreaterThan(2);
		expect(allowed({ read_only: true })).toEqual(readers);
		expect(listed({ read_only: true })).not.toContain("use_tool");
		expect(listed({ read_only: true })).toContain("use_reading_tool");
	});

	test("what is denied is left out", () => {
		const deny = ["ban", "send_message"];
		expect(allowed({ tools: { deny } })).toEqual(names(tools).filter((name) => !deny.includes(name)));
	});

	test("tools of features can be denied whether or not the feature is on", () => {
		expect(names(gameTools)).toEqual(["list_donators", "sync_donators"]);
		expect(allowed({ tools: { deny: ["list_donators", "sync_donators"] } })).toEqual(allowed({}));
	});

	test("the default list has every tool that the specification names", () => {
		const named =
			"list_guilds list_members lookup_user_by_name send_message delete_messages create_channel edit_channel edit_role ban set_channel_permissions";
		expect(listed({})).toEqual(expect.arrayContaining(named.split(" ")));
	});
});

describe("descriptions", () => {
	const textsOf = (value: unknown): string[] =>
		Object.entries(Object(value)).flatMap(([key, one]) =>
			typeof one === "string" ? (key === "description" ? [one] : []) : textsOf(one),
		);
	const every = new Set(deniableTools.map(({ name }) => name).concat(accessorNames));
	const named = (tool: BotTool) =>
		textsOf(tool.listing).flatMap((text) => text.match(/[a-z]+(?:_[a-z]+)+/g)?.filter((word) => every.has(word)) ?? []);
	const scope = (access: "read" | "write", toolsets?: ToolScope["toolsets"]) =>
		offerTools(tools, open)({ access, toolsets });

	test.each<[string, OfferedTools]>([
		["by default", offer({})],
		["with all listed", offer({ list: "all" })],
		["read-only", offer({ read_only: true })],
		["of the toolset channels", offer({ toolsets: ["channels"] })],
		["of the toolsets guild and events", offer({ toolsets: ["guild", "events"] })],
		...[...every].map((name): [string, OfferedTools] => [`without ${name}`, offer({ tools: { deny: [name] } })]),
		["for who may only read", scope("read")],
		["for who may write", scope("write")],
		["for who may only read roles and automod", scope("read", ["roles", "automod"])],
	])("%s, name only tools that there are", (_, offered) => {
		const allowed = new Set(names(offered.allowed));
		for (const tool of new Set([...offered.allowed, ...offered.listed])) {
			expect(named(tool).filter((name) => !allowed.has(name))).toEqual([]);
			expect(String(tool.listing.description)).toEndWith(".");
		}
	});

	test("lose no more than the sentence or clause with the name", () => {
		const describe = (name: string, offered: OfferedTools) =>
			offered.allowed.find((tool) => tool.name === name)?.listing.description;
		const without = (name: string) => offer({ tools: { deny: [name] } });
		expect(describe("create_channel", offer({}))).toContain("Create a channel; several: plan_guild. Access is as in");
		expect(describe("create_channel", without("plan_guild"))).toContain("Create a channel. Access is as in");
		expect(describe("list_backups", without("plan_guild"))).toBe("List the guild's backups, newest first.");
	});
});

test("what is switched off is described with its setting", () => {
	const off = (choice: Partial<ToolChoice>, features = {}) => describeOff(tools, { ...open, ...choice }, features);
	expect(off({}, { chat: true })).toBeUndefined();
	expect(off({ read_only: true, tools: { deny: ["ban", "kick"] } }, { chat: false, game: false, welcome: true })).toBe(
		"Switched off by the operator: the features chat, game (features in config.toml); all tools that change something (read_only in config.toml); ban, kick (deny in config.toml).",
	);
	const some = toolsetNames.filter((name) => !["events", "voice", "game"].includes(name));
	expect(off({ toolsets: some })).toBe(
		"Switched off by the operator: tools of voice, events (toolsets in config.toml).",
	);
});

test("a tool is denied by its name, its toolset or its effect", () => {
	const { denies } = offer({ tools: { deny: ["ban"] } });
	expect(["ban", "kick", "no_such_tool"].map(denies)).toEqual([true, false, false]);
	expect(offer({ toolsets: ["voice"] }).denies("create_channel")).toBe(true);
	expect(offer({ read_only: true }).denies("create_channel")).toBe(true);
});

test("use_tool proposes no tool that is denied", () => {
	const propose = (deny: string[]) => offer({ tools: { deny } }).resolve("use_tool", { name: "clone_chanel" }).refusal;
	expect(propose([])).toContain("clone_channel");
	expect(propose(["clone_channel"])).not.toContain("clone_channel");
});

describe("a call", () => {
	const [ban, members] = ["ban", "list_members"].map((name) => tools.find((tool) => tool.name === name));
	const guild_id = "123456789012345678";
	const user_ids = ["223456789012345678"];

	test("of use_tool is a call of the tool inside, with the guild beside it", () => {
		expect(offer({}).resolve("use_tool", { name: "ban", arguments: { user_ids }, guild_id })).toEqual({
			tool: ban as BotTool,
			args: { user_ids, guild_id },
		});
		expect(offer({}).resolve("use_reading_tool", { name: "list_members" })).toEqual({
			tool: members as BotTool,
			args: {},
		});
	});

	test("of use_reading_tool refuses what does not only read", () => {
		expect(offer({}).resolve("use_reading_tool", { name: "ban", arguments: { user_ids } })).toEqual({
			tool: ban as BotTool,
			args: { user_ids },
			refusal: "ban can change something on Discord: call it with use_tool. Nothing was done.",
		});
	});

	test.each(accessorNames.map((name) => [name]))("inside another is not %s", (name) => {
		for (const accessor of ["use_tool", "use_reading_tool"])
			expect(offer({}).resolve(accessor, { name }).refusal).toBe(
				`${accessor} cannot call ${name}: both only call other tools. Call ${name} by its own name. Nothing was done.`,
			);
	});

	test.each([
		[{ arguments: {} }, "name: expected the name of a tool"],
		[{ name: "ban", arguments: [] }, "arguments: expected an object"],
		[{ name: "ban", arguments: { guild_id } }, "arguments.guild_id: put guild_id beside `arguments`, not inside"],
		[
			{ name: "ban", arguments: { instance: "alpha" } },
			"arguments.instance: put instance beside `arguments`, not inside",
		],
		[{ name: "ban", user_ids }, "user_ids: put the tool's own arguments into `arguments`"],
	])("of use_tool with %j is invalid", (args, issue) => {
		expect(() => offer({}).resolve("use_tool", args)).toThrow(`Invalid parameters: ${issue}`);
	});

	test.each([
		["bann", "; did you mean ban?"],
		["list_bans", "; did you mean get_bans?"],
		["lst_members", "; did you mean list_members?"],
		["zzz_qqq", ""],
	])("of the unknown tool %s suggests one", (name, meant) => {
		const tools = offer({});
		expect(tools.resolve("use_tool", { name }).refusal).toBe(
			`There is no tool ${name}${meant || "."} Use find_tools to search for tools. Nothing was done.`,
		);
		expect(() => tools.resolve(name, {})).toThrow(`Method not found: ${name}${meant}`);
	});

	test.each([
		[{ tools: { deny: ["ban"] } }, "the operator of this bot denies ban (deny in config.toml)"],
		[{ read_only: true }, "the operator of this bot allows only tools that read (read_only in config.toml)"],
		[
			{ toolsets: ["core" as const] },
			'the operator of this bot does not allow the toolset "moderation" (toolsets in config.toml)',
		],
	])("of what %j does not allow says so", (choice, why) => {
		const tools = offer(choice);
		const text = `ban is not allowed: ${why}. Nothing was done.`;
		expect(tools.resolve("ban", {}).refusal).toBe(text);
		const inner = { name: "ban", arguments: {} };
		if (!("read_only" in choice)) expect(tools.resolve("use_tool", inner).refusal).toBe(text);
		expect(tools.resolve("use_reading_tool", inner).refusal).toBe(text);
	});
});

/** A bot whose `[mcp]` is this. */
const startChosen = (mcp: object) => startWorld({}, { toml: { commands: "off", mcp } });

test("what is not allowed is neither listed nor callable", async () => {
	await using bot = await startChosen({ read_only: true, toolsets: "all" });
	const listed = (await bot.mcp.listTools()).map(({ name }) => name);
	expect(listed).toEqual(expect.arrayContaining([...withoutAccessors(readers), "get_settings"]));
	expect(listed).not.toContain("ban");
	const { id } = bot.simulator.user("ada");
	for (const [name, args] of [
		["ban", { user_ids: [id] }],
		["use_reading_tool", { name: "ban", arguments: { user_ids: [id] } }],
	] as const)
		expect(await bot.call(name, args)).toEqual({
			text: "ban is not allowed: the operator of this bot allows only tools that read (read_only in config.toml). Nothing was done.",
			isError: true,
		});
	expect(bot.simulator.journal.entries()).toEqual([]);
});

test("a tool that is not listed runs by use_tool, and is on record and in the metrics by its own name", async () => {
	await using bot = await startChosen({});
	const listed = (await bot.mcp.listTools()).map(({ name }) => name);
	expect(listed).not.toContain("clone_channel");
	const { id } = bot.guild.channels.values().next().value as { id: string };
	const { text } = await bot.call("use_tool", {
		name: "clone_channel",
		arguments: { channel_id: id, name: "copy" },
		guild_id: bot.guild.id,
	});
	expect(text).toContain("copy");
	await until("it is on record under its own name", async () =>
		(await bot.call("use_reading_tool", { name: "list_recent_tool_calls" })).text.includes("| clone_channel | done |"),
	);
	expect(bot.logged.some((line) => line.includes('tool="clone_channel"'))).toBe(true);
	expect(bot.logged.some((line) => line.includes('tool="use_tool"'))).toBe(false);
	const { text: denied } = await bot.call("use_tool", { name: "clone_chanel" });
	expect(denied).toContain("did you mean clone_channel?");
	const unknown = { name: "list_thread_members", arguments: { thread_id: id, archived: true } };
	for (const accessor of ["use_tool", "use_reading_tool"])
		expect((await bot.call(accessor, unknown)).text).toContain(
			"archived: this tool has no such parameter, but guild_id, thread_id, limit, after",
		);
});

test("find_tools gives the arguments of the best tool, and what the next ones do", async () => {
	await using bot = await startChosen({ tools: { deny: ["edit_webhook"] } });
	const { text } = await bot.call("find_tools", { query: "rename a webhook" });
	const lines = text.split("\n");
	expect(text).toContain("create_webhook (call it with use_tool): ");
	expect(text).not.toMatch(/edit_webhook(?!_)/);
	expect(lines).toHaveLength(5);
	expect(lines.map((line) => /^\{\w+\??: string.*\}$/.test(line))).toEqual(lines.map((_, index) => index === 1));
	expect((await bot.call("find_tools", { query: "zzz" })).text).toBe("No tool matches this. Try other words.");
	const { text: two } = await bot.call("find_tools", { query: "rename a webhook", limit: 2 });
	expect(two.match(/^\{\w+_ids?\??: string/gm)).toHaveLength(2);
});

test("an error names no tool that is denied", async () => {
	const ask = async (mcp: object) => {
		await using bot = await startChosen(mcp);
		return await bot.call("edit_role", { role_id: "1".repeat(18), name: "Cooks" });
	};
	expect((await ask({})).text).toContain("Use list_roles to find its roles.");
	const { text, isError } = await ask({ tools: { deny: ["list_roles"] } });
	expect(isError).toBe(true);
	expect(text).toMatch(/^There is no role 1{18} in the guild \d+\.$/);
});

test("find_tools says of a listed tool to call it directly, without what clients know", async () => {
	await using bot = await startChosen({});
	const ask = async (query: string) => (await bot.call("find_tools", { query })).text.split("\n");
	const [direct, next = ""] = await ask("ban a member");
	expect(direct).toBe("ban (listed: call it directly)");
	expect(next).not.toStartWith("{");
	const [reading = "", parameters = ""] = await ask("list bans");
	expect(reading).toStartWith("get_bans (call it with use_reading_tool): ");
	expect(parameters).toMatch(/^\{.*\blimit\?: integer \(.*At most 1000\.\).*\}$/);
});

test("find_tools takes several purposes, and gives the arguments of the best tool for each once", async () => {
	await using bot = await startChosen({});
	const ask = (query: string) => bot.call("find_tools", { query });
	const { text } = await ask("clone a channel; zzz;\nban a member\nlist bans; who is banned;");
	const [clone, cloneLine, schema, zzz, none, ban, banLine, bans, ...rest] = text.split("\n");
	expect(clone).toBe('"clone a channel":');
	expect(cloneLine).toStartWith("clone_channel (call it with use_tool): ");
	expect(schema).toStartWith("{channel_id: string");
	expect([zzz, none]).toEqual(['"zzz":', "No tool matches this. Try other words."]);
	expect(ban).toStartWith('"ban a member", or else ');
	expect(banLine).toBe("ban (listed: call it directly)");
	expect(bans).toStartWith('"list bans"');
	expect(rest).toHaveLength(4);
	expect(rest.at(-1)).toBe("get_bans: see above");
	const { code, text: refusal } = await ask("a;".repeat(11));
	expect(code).toBe(-32602);
	expect(refusal).toContain(
		'query: expected at most 10 descriptions of what a tool should do, separated by ";" or line breaks, received 11',
	);
	expect((await ask("; ;")).text).toBe("No tool matches this. Try other words.");
});

test("a result of find_tools is usually shorter than 1 KB", async () => {
	await using bot = await startChosen({});
	const sizes = await Promise.all(
		realTools.map(async ({ name }) => {
			const { text } = await bot.call("find_tools", { query: name });
			return Buffer.byteLength(text);
		}),
	);
	const [median = 0] = sizes.sort((a, b) => a - b).slice(sizes.length / 2);
	expect(median).toBeLessThan(1_000);
});

test("a guild that is not among mcp.guilds is neither listed nor touched", async () => {
	const other = "223456789012345678";
	await using bot = await startChosen({ guilds: [other] });
	expect((await bot.call("list_guilds")).text).toBe("0 guild(s):");
	const { id } = bot.simulator.guild("The Cooks");
	for (const args of [{}, { guild_id: id }])
		expect(await bot.call("list_members", args)).toEqual({
			text: `The operator of this bot has not enabled tools for the guild ${id}. Use list_guilds to find guilds for which tools are enabled.`,
			isError: true,
		});
});
