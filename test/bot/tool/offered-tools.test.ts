// Which tools a bot offers, and which guilds they may touch.

import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import { toml } from "../../../src/bot/config/settings.ts";
import { type ToolChoice, toolsetNames } from "../../../src/bot/config/tool-choice.ts";
import { donatorToolNames, donatorTools } from "../../../src/bot/game/donator-tools.ts";
import { accessors, OfferedTools } from "../../../src/bot/tool/offered-tools.ts";
import type { BotTool } from "../../../src/bot/tool/toolsets.ts";
import { callingTools, listedByDefault, tools as realTools } from "../../../src/bot/tools/index.ts";
import type { JsonObject } from "../../../src/mcp/json-rpc.ts";
import { until } from "../../support/until.ts";
import { startWorld } from "../../support/world.ts";

const tools: readonly BotTool[] = [...realTools, ...callingTools];
const open: ToolChoice = { read_only: false, tools: { deny: [] } };
const offer = (choice: Partial<ToolChoice>, of = tools) =>
	new OfferedTools(of, { ...open, ...choice }, listedByDefault);
const names = (list: readonly BotTool[]) => list.map(({ name }) => name);
const allowed = (choice: Partial<ToolChoice>) => names(offer(choice).allowed);
const listed = (choice: Partial<ToolChoice>) => names(offer(choice).listed);
const accessorNames = Object.values(accessors);
const withoutAccessors = (list: readonly string[]) => list.filter((name) => !accessorNames.some((one) => one === name));
/** They are offered where the feature is on. */
const never = () => Promise.reject(new Error("only its listing is wanted"));
const gameTools = donatorTools({ plan: never, apply: never });
const readers = tools.filter(({ listing }) => Object(listing.annotations).readOnlyHint).map(({ name }) => name);

describe("what is allowed and listed", () => {
	test("without a choice, all tools are allowed and the default tools listed", () => {
		expect(allowed({})).toEqual(names(tools));
		expect(listed({}).toSorted()).toEqual([...listedByDefault].toSorted());
	});

	test("what toolsets name is allowed and listed, without the tools that reach others", () => {
		for (const toolset of toolsetNames.filter((name) => name !== "core")) {
			const its = names(tools.filter((tool) => [tool, ...tool.aliases].some((one) => one.toolset === toolset)));
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
				(name) => listedByDefault.includes(name) || name.includes("scheduled_event") || name === "get_event_users",
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
		expect(names(gameTools)).toEqual([...donatorToolNames]);
		expect(allowed({ tools: { deny: [...donatorToolNames] } })).toEqual(allowed({}));
	});

	test("the default list has every tool that the specification names", () => {
		const named =
			"list_guilds list_members lookup_user_by_name send_message delete_messages create_channel edit_channel edit_role ban set_channel_permissions";
		expect(listed({})).toEqual(expect.arrayContaining(named.split(" ")));
	});
});

test.each([
	["get_role_members", "list_members", { with_role_ids: ["1"] }, { name: "a" }],
	["search_members", "list_members", { name: "a" }, { pending: true }],
	["search_members", "list_members", { bots: false }, {}],
	["get_prune_count", "prune_members", { dry_run: true }, {}],
	["assign_role", "bulk_role_update", { action: "add" }, { action: "remove" }],
	["remove_role", "bulk_role_update", { action: "remove" }, { action: "add" }],
	["start_stage", "set_stage", { topic: "a" }, { end: true }],
	["edit_stage", "set_stage", { topic: "a" }, { end: true }],
	["end_stage", "set_stage", { end: true }, { topic: "a" }],
	["unlock_channel", "lock_channel", { unlock: true }, { unlock: false }],
	[
		"add_thread_members",
		"edit_thread_members",
		{ add_user_ids: ["1"], remove_user_ids: ["2"] },
		{ remove_user_ids: ["2"] },
	],
	[
		"remove_thread_members",
		"edit_thread_members",
		{ add_user_ids: ["1"], remove_user_ids: ["2"] },
		{ add_user_ids: ["1"], remove_user_ids: null },
	],
] as [string, string, JsonObject, JsonObject][])(
	"denying %s denies what it did inside %s: %j, but not %j",
	(former, tool, did, other) => {
		const { resolve } = offer({ tools: { deny: [former] } });
		expect(resolve(tool, did).refusal).toContain(`denies ${former}`);
		expect(resolve(tool, other).refusal).toBeUndefined();
		expect(resolve(former, {}).refusal).toContain(`denies ${former}`);
	},
);

test.each<[string, string, JsonObject]>([
	["sync_channel_permissions", "copy_channel_permissions", {}],
	["create_forum_post", "create_thread", { content: "a" }],
	["search_guild_messages", "search_messages", { text: "a" }],
	["remove_channel_permissions", "set_channel_permissions", { replace: true }],
	["remove_channel_permissions", "set_channel_permissions", { replace: true, allow: ["0"], deny_names: "0" }],
	["create_automod_rule", "set_automod_rule", { name: "a" }],
	["delete_message", "delete_messages", { message_ids: ["1", "1"] }],
	["move_channel", "move_channels", { channel_ids: ["1", "1"] }],
	["create_voice_channel", "create_channel", { channel_type: "VOICE" }],
])("denying %s denies %s with %j, whatever arguments are null", (former, name, did) => {
	const { resolve } = offer({ tools: { deny: [former] } });
	const schema = tools.find((one) => one.name === name)?.listing.inputSchema;
	const properties = Object.keys(schema?.properties ?? {});
	const absent = ["channel_id", "after", ...properties];
	const nulls = Object.fromEntries(absent.map((key) => [key, null]));
	for (const args of [did, { ...nulls, ...did }]) expect(resolve(name, args).refusal).toContain(`denies ${former}`);
});

test.each<[string, string, JsonObject, JsonObject]>([
	["set_channel_permissions", "edit_channel", { view_role_ids: ["1"] }, { view_role_ids: null, name: "a" }],
	["remove_channel_permissions", "edit_channel", { name: "a", permission_overwrites: [] }, { name: "a" }],
	["move_channel", "edit_channel", { below_channel_id: "1" }, { topic: "a" }],
	["move_roles", "edit_role", { below_role_id: "1" }, { name: "a" }],
	["assign_role", "create_role", { user_ids: ["1"] }, { name: "a" }],
	["bulk_role_update", "create_role", { user_ids: ["1"] }, { name: "a" }],
])("denying %s denies %s with the arguments %j, but not %j", (denied, name, does, other) => {
	const { resolve } = offer({ tools: { deny: [denied] } });
	for (const call of [
		(args: JsonObject) => resolve(name, args),
		(args: JsonObject) => resolve("use_tool", { name, arguments: args }),
	]) {
		expect(call(does).refusal).toContain(`denies ${denied}`);
		expect(call(other).refusal).toBeUndefined();
	}
});

test("tools name only existing tools in their overlaps", () => {
	const known = tools.flatMap(({ name, aliases }) => [name, ...aliases.map((alias) => alias.name)]);
	const named = tools.flatMap(({ overlaps }) => overlaps.flatMap((overlap) => overlap.names));
	expect(known).toEqual(expect.arrayContaining(named));
});

test("denying a former name of a whole tool denies its other names", () => {
	const { resolve } = offer({ tools: { deny: ["ban_member"] } });
	for (const name of ["ban", "ban_member", "bulk_ban"])
		for (const [called, args] of [
			[name, {}],
			["use_tool", { name }],
		] as const)
			expect(resolve(called, args).refusal).toContain("denies ban_member");
});

test("a tool is denied by its name, a former name or its toolset", () => {
	const { denies } = offer({ tools: { deny: ["ban_member"] } });
	expect(["ban", "ban_member", "bulk_ban"].map(denies)).toEqual([...[true, true, true]]);
	expect(["kick", "no_such_tool"].map(denies)).toEqual([false, false]);
	const voice = offer({ toolsets: ["voice"] });
	expect(voice.denies("create_voice_channel")).toBe(false);
	expect(voice.denies("create_channel")).toBe(true);
	expect(offer({ read_only: true }).denies("create_channel")).toBe(true);
});

test.each<[ToolChoice["toolsets"] & object, string, JsonObject, boolean]>([
	[["voice"], "edit_channel", { bitrate: 64_000, name: "a" }, true],
	[["voice"], "edit_channel", { bitrate: 64_000, view_role_ids: [] }, false],
	[["voice"], "edit_channel", { status: null, name: "a" }, false],
	[["voice"], "edit_voice_channel", { name: "a", reason: "b" }, true],
	[["voice"], "edit_voice_channel", { name: "a", view_role_ids: [] }, false],
	[["voice"], "create_voice_channel", { user_limit: 1 }, true],
	[["voice"], "create_voice_channel", { permission_overwrites: [] }, false],
	[["threads"], "edit_channel", { tags: [], dry_run: true }, true],
	[["threads"], "edit_channel", { tags: [], topic: "a" }, false],
	[["roles"], "list_members", { with_role_ids: ["1"], limit: 1 }, true],
	[["roles"], "list_members", { with_role_ids: null }, false],
])("with the toolsets %j, %s is called with %j: %p", (toolsets, name, args, isAllowed) => {
	const { refusal } = offer({ toolsets }).resolve(name, args);
	expect(refusal === undefined).toBe(isAllowed);
});

test("get_role_members needs a role", () => {
	for (const role of [null, undefined])
		expect(offer({}).resolve("get_role_members", { with_role_ids: role }).args).toEqual({ with_role_ids: [] });
});

test("no arguments make it fail to find the tool of a call", () => {
	const denied = tools.flatMap(({ aliases }) => aliases.map(({ name }) => name));
	const former =
		"user_id role_id target_type target_id allow_names permission_names title tag_id query author_ids webhook_id";
	const odd = ["constructor", "toString", "__proto__", ...former.split(" ")];
	const object = { toString: 1, valueOf: 1 };
	const values = [null, 1, "", "a", true, [], [null], object, [object]];
	for (const deny of [[], denied]) {
		const { resolve } = offer({ tools: { deny } });
		for (const { name, aliases, listing } of tools) {
			if (accessorNames.some((one) => one === name)) continue;
			const keys = Object.keys(listing.inputSchema.properties ?? {});
			for (const called of [name, ...aliases.map((alias) => alias.name)])
				for (const key of [...keys, ...odd])
					for (const value of values) resolve(called, Object.fromEntries([[key, value]]));
		}
	}
});

test("use_tool proposes no tool that is denied", () => {
	const propose = (deny: string[]) => offer({ tools: { deny } }).resolve("use_tool", { name: "clone_chanel" }).refusal;
	expect(propose([])).toContain("clone_channel");
	expect(propose(["clone_channel"])).not.toContain("clone_channel");
});

test("denying one of start_stage and edit_stage leaves the other", () => {
	const deny = (former: string) => offer({ tools: { deny: [former] } }).resolve;
	const args = { topic: "a" };
	for (const [denied, other, only] of [
		["start_stage", "edit_stage", "edit"],
		["edit_stage", "start_stage", "start"],
	] as const) {
		expect(deny(denied)(denied, args).refusal).toContain(`denies ${denied}`);
		expect(deny(denied)(other, { ...args, end: true })).toEqual({
			tool: expect.objectContaining({ name: "set_stage" }),
			args: { ...args, end: false, only },
		});
	}
});

test.each([
	["assign_role", { user_id: "1", role_id: "2" }, { role_id: "2", action: "add", user_ids: ["1"] }],
	["remove_role", { bots: true }, { bots: true, action: "remove", user_ids: [] }],
	["end_stage", { topic: "a" }, { topic: "a", end: true }],
	["unlock_channel", { unlock: false }, { unlock: true }],
	["unlock_channel", { channel_id: "1" }, { channel_ids: ["1"], unlock: true }],
	["add_thread_members", { user_ids: ["1"] }, { add_user_ids: ["1"] }],
	["add_thread_members", { remove_user_ids: ["1"] }, {}],
	["remove_thread_members", { user_ids: "1" }, { remove_user_ids: ["1"] }],
	["remove_thread_members", { user_ids: null }, {}],
] as [string, JsonObject, JsonObject][])("%s with the arguments %j is called with %j", (former, args, adapted) => {
	expect(offer({}).resolve(former, args).args).toEqual(adapted);
});

describe("a call", () => {
	const [ban, members] = ["ban", "list_members"].map((name) => tools.find((tool) => tool.name === name));
	const guild_id = "123456789012345678";
	const user_id = "223456789012345678";

	test("of use_tool is a call of the tool inside, with the guild beside it", () => {
		expect(
			offer({}).resolve("use_tool", {
				name: "ban_member",
				arguments: { user_id },
				guild_id,
			}),
		).toEqual({
			tool: ban as BotTool,
			args: { user_ids: [user_id], guild_id },
		});
		expect(offer({}).resolve("use_reading_tool", { name: "list_members" })).toEqual({
			tool: members as BotTool,
			args: {},
		});
	});

	test("of use_reading_tool refuses what does not only read", () => {
		const call = { name: "ban_member", arguments: { user_id } };
		expect(offer({}).resolve("use_reading_tool", call)).toEqual({
			tool: ban as BotTool,
			args: { user_id },
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
		[{ name: "ban", user_id }, "user_id: put the tool's own arguments into `arguments`"],
	])("of use_tool with %j is invalid", (args, issue) => {
		expect(() => offer({}).resolve("use_tool", args)).toThrow(`Invalid parameters: ${issue}`);
	});

	test("of an unknown tool suggests one", () => {
		const { refusal } = offer({}).resolve("use_tool", { name: "bann" });
		expect(refusal).toBe(
			"There is no tool bann; did you mean ban? Use find_tools to search for tools. Nothing was done.",
		);
	});

	test.each([
		[{ tools: { deny: ["ban"] } }, "the operator of this bot denies ban (deny in config.toml)"],
		[{ read_only: true }, "the operator of this bot allows only tools that read (read_only in config.toml)"],
		[
			{ toolsets: ["core" as const] },
			'the operator of this bot does not allow the toolset "moderation" (toolsets in config.toml)',
		],
	])("of what %j does not allow says so, by any name", (choice, why) => {
		const tools = offer(choice);
		const text = `ban is not allowed: ${why}. Nothing was done.`;
		expect(tools.resolve("ban", {}).refusal).toBe(text);
		expect(tools.resolve("ban_member", {}).refusal).toBe(text);
		const inner = { name: "ban_member", arguments: {} };
		if (!("read_only" in choice)) expect(tools.resolve("use_tool", inner).refusal).toBe(text);
		expect(tools.resolve("use_reading_tool", inner).refusal).toBe(text);
	});

	test("of a tool is refused where another name of it is denied", () => {
		const tools = offer({ tools: { deny: ["ban_member"] } });
		const why = ": the operator of this bot denies ban_member (deny in config.toml). Nothing was done.";
		expect(tools.resolve("ban_member", {}).refusal).toBe(`ban_member is not allowed${why}`);
		expect(tools.resolve("ban", {}).refusal).toBe(
			`the tool ban is not allowed to do what the tool ban_member, which it has replaced, did${why}`,
		);
		expect(names(tools.allowed)).not.toContain("ban");
	});

	test("of what a former tool did is allowed where only the toolset of the former tool is", () => {
		const voice = offer({ toolsets: ["voice"] });
		expect(names(voice.listed)).toContain("create_channel");
		for (const [name, args] of [
			["create_voice_channel", { name: "Lounge" }],
			["create_channel", { name: "Lounge", channel_type: "voice" }],
			["edit_channel", { user_limit: 5 }],
		] as const)
			expect(voice.resolve(name, args).refusal).toBeUndefined();
		for (const args of [{}, { channel_type: "text" }])
			expect(voice.resolve("create_channel", args).refusal).toBe(
				'create_channel is not allowed: the operator of this bot does not allow the toolset "channels" (toolsets in config.toml). Nothing was done.',
			);
		const denied = offer({
			toolsets: ["voice"],
			tools: { deny: ["create_voice_channel"] },
		});
		for (const name of ["create_voice_channel", "create_channel"])
			expect(denied.resolve(name, { channel_type: "voice" }).refusal).toContain("denies create_voice_channel");
		expect(denied.resolve("create_stage_channel", {}).refusal).toBeUndefined();
		const reading = offer({ toolsets: ["voice"], read_only: true });
		expect(reading.resolve("create_voice_channel", {}).refusal).toContain("only tools that read");
	});

	test("of what a denied tool did is refused in the tool that took it over", () => {
		const [tool] = tools;
		const took: BotTool = {
			...(tool as BotTool),
			name: "make",
			aliases: [
				{
					name: "make_red",
					adapt: (args) => ({ ...args, color: "red" }),
					covers: ({ color }) => color === "red",
				},
			],
		};
		const open = offer({}, [took]);
		expect(open.resolve("make_red", { size: 1 })).toEqual({
			tool: took,
			args: { size: 1, color: "red" },
		});
		const denied = offer({ tools: { deny: ["make_red"] } }, [took]);
		expect(denied.resolve("make", { color: "blue" }).refusal).toBeUndefined();
		for (const [name, args] of [
			["make", { color: "red" }],
			["make_red", {}],
		] as const)
			expect(denied.resolve(name, args).refusal).toContain("denies make_red (deny in config.toml)");
	});

	test("former arguments become the present ones, by whatever name the tool is called", () => {
		const [tool] = tools;
		const took = {
			...(tool as BotTool),
			name: "paint",
			adapt: ({ size, ...args }: JsonObject) => (size === undefined ? args : { ...args, sizes: [size] }),
			aliases: [
				{
					name: "paint_red",
					adapt: (args: JsonObject) => ({ ...args, color: "red" }),
					covers: ({ sizes }: JsonObject) => sizes !== undefined,
				},
			],
		};
		const { resolve } = offer({}, [took]);
		expect(resolve("paint", { size: 1 }).args).toEqual({ sizes: [1] });
		expect(resolve("paint_red", { size: 1 }).args).toEqual({
			...{ sizes: [1], color: "red" },
		});
		const denied = offer({ tools: { deny: ["paint_red"] } }, [took]);
		expect(denied.resolve("paint", { size: 1 }).refusal).toContain("denies");
	});
});

/** A bot whose `[mcp]` is this. */
const startChosen = (mcp: object) => startWorld({}, { toml: v.parse(toml, { bot_name: "Alpha", mcp }) });

test("what is not allowed is neither listed nor callable, by any name", async () => {
	await using bot = await startChosen({ read_only: true, toolsets: "all" });
	const listed = (await bot.mcp.listTools()).map(({ name }) => name);
	expect(listed).toEqual(withoutAccessors(readers));
	const { id } = bot.simulator.user("ada");
	for (const [name, args] of [
		["ban", { user_id: id }],
		["ban_member", { user_id: id }],
		["use_reading_tool", { name: "ban", arguments: { user_id: id } }],
	] as const)
		expect(await bot.call(name, args)).toEqual({
			text: "ban is not allowed: the operator of this bot allows only tools that read (read_only in config.toml). Nothing was done.",
			isError: true,
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
	const { text: denied } = await bot.call("use_tool", {
		name: "clone_chanel",
	});
	expect(denied).toContain("did you mean clone_channel?");
});

test("find_tools gives the arguments of the best tool, and what the next ones do", async () => {
	await using bot = await startChosen({ tools: { deny: ["edit_webhook"] } });
	const { text } = await bot.call("find_tools", { query: "rename a webhook" });
	const lines = text.split("\n");
	expect(text).toContain("create_webhook (call it with use_tool): ");
	expect(text).not.toMatch(/edit_webhook(?!_)/);
	expect(lines).toHaveLength(5);
	expect(lines.map((line) => line.startsWith('{"properties":{'))).toEqual(lines.map((_, index) => index === 1));
	expect((await bot.call("find_tools", { query: "zzz" })).text).toContain('No tool matches "zzz".');
	const { text: two } = await bot.call("find_tools", {
		...{ query: "rename a webhook", limit: 2 },
	});
	expect(two.match(/^\{"properties"/gm)).toHaveLength(2);
});

test("find_tools says of a listed tool to call it directly, without what clients know", async () => {
	await using bot = await startChosen({});
	const ask = async (query: string) => (await bot.call("find_tools", { query })).text.split("\n");
	const [direct, next = ""] = await ask("ban a member");
	expect(direct).toBe("ban (listed: call it directly)");
	expect(next).not.toStartWith("{");
	const [reading = "", parameters = ""] = await ask("list bans");
	expect(reading).toStartWith("get_bans (call it with use_reading_tool): ");
	expect(JSON.parse(parameters)).toHaveProperty("properties.limit");
});

test("find_tools takes several purposes, and gives the arguments of the best tool for each once", async () => {
	await using bot = await startChosen({});
	const ask = (query: string) => bot.call("find_tools", { query });
	const { text } = await ask("clone a channel; zzz;\nban a member\nlist bans; who is banned;");
	const [clone, cloneLine, schema, none, ban, banLine, bans, ...rest] = text.split("\n");
	expect(clone).toMatch(/^"clone a channel", or else \w+, \w+, \w+:$/);
	expect(cloneLine).toStartWith("clone_channel (call it with use_tool): ");
	expect(JSON.parse(schema ?? "")).toHaveProperty("properties.channel_id");
	expect(none).toBe('"zzz": no tool matches');
	expect(ban).toStartWith('"ban a member", or else ');
	expect(banLine).toBe("ban (listed: call it directly)");
	expect(bans).toStartWith('"list bans", or else ');
	expect(rest).toHaveLength(4);
	expect(rest.at(-1)).toBe("get_bans: see above");
	const { code, text: refusal } = await ask("a;".repeat(11));
	expect(code).toBe(-32602);
	expect(refusal).toContain(
		'query: expected at most 10 descriptions of what a tool should do, separated by ";" or line breaks, received 11',
	);
	expect((await ask("; ;")).text).toContain("No tool matches");
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
