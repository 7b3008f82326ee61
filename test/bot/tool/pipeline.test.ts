// The pipeline that every call goes through: what a tool may send, and what of its result is shown.

import { describe, expect, test } from "bun:test";
import { Routes } from "discord.js";
import * as v from "valibot";
import { startBot } from "../../../src/bot/bot.ts";
import { guild_id } from "../../../src/bot/tool/arguments/arguments.ts";
import type { BotTool, ToolContext } from "../../../src/bot/tool/context.ts";
import { destructiveTool, readTool, writeTool } from "../../../src/bot/tool/define.ts";
import { ToolError } from "../../../src/lib/tool-error.ts";
import type { Guild } from "../../../src/simulator/world/state/entities.ts";
import { connectedConfig } from "../../support/bot-config.ts";
import { recordLog } from "../../support/log.ts";
import { connectTo } from "../../support/mcp.ts";
import { startSimulator } from "../../support/simulator.ts";
import { until } from "../../support/until.ts";
import { addToBakers, startWorld, writes } from "../../support/world.ts";

const about = { toolset: "messages", title: "Try", description: "Try it.", input: {} } as const;

type Work = (context: ToolContext) => Promise<string | string[]>;

const reading = (run: Work) => readTool({ ...about, name: "try_it", run: (_, it) => run(it) });
const writing = (run: Work) => writeTool({ ...about, name: "try_it", run: (_, it) => run(it) });
const planning = (plan: Work, act: Work) =>
	destructiveTool({
		...about,
		name: "try_it",
		plan: async (_, it) => ({ preview: await plan(it), act: () => act(it) }),
	});

/** A bot that has this tool alone, and writing a message as its platform knows it. */
async function startWith(make: (send: Work) => BotTool) {
	const send: Work = async ({ discord }) => {
		const channel = discord.channels.cache.find((one) => "name" in one && one.name === "general");
		await discord.rest.post(Routes.channelMessages(channel?.id ?? ""), { body: { content: "hello" } });
		return "Sent.";
	};
	const world = await startWorld({}, { tools: [make(send)] });
	return {
		call: () => world.call("try_it"),
		/** The writes that reached Discord. */
		written: () => writes(world),
		lines: world.logged,
		[Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
	};
}

const nothing: Work = async () => "Nothing.";

describe("a write", () => {
	test.each([
		["a tool that only reads", reading],
		["the plan of a destructive tool", (send) => planning(send, nothing)],
	] as [string, (send: Work) => BotTool][])("of %s is a bug, and never sent", async (_, make) => {
		await using bot = await startWith(make);
		const { code } = await bot.call();
		expect(code).toBe(-32603);
		expect(bot.written()).toEqual([]);
		expect(bot.lines.join()).toContain("may only read from Discord, but tried to send a POST request");
	});

	test.each([
		["a tool that writes", writing],
		["what a destructive tool does", (send) => planning(nothing, send)],
	] as [string, (send: Work) => BotTool][])("of %s is sent", async (_, make) => {
		await using bot = await startWith(make);
		expect(await bot.call()).toEqual({ text: "Sent.", isError: false });
		expect(bot.written()).toHaveLength(1);
	});
});

test("a bug after a write says that its outcome is unknown, and is logged", async () => {
	const broken = (send: Work) =>
		writing(async (it) => {
			await send(it);
			throw new TypeError("broken on purpose");
		});
	await using bot = await startWith(broken);
	const { text, isError } = await bot.call();
	expect(isError).toBe(true);
	expect(text).toContain("Its outcome is unknown");
	expect(text).not.toContain("on purpose");
	expect(bot.written()).toHaveLength(1);
	const logged = bot.lines.join();
	expect(logged).toContain("MCP tool failed after changing something on Discord");
	expect(logged).toContain("broken on purpose");
});

test("a bug before any write is an internal error", async () => {
	await using bot = await startWith(() =>
		writing(async () => {
			throw new TypeError("broken on purpose");
		}),
	);
	expect((await bot.call()).code).toBe(-32603);
	expect(bot.written()).toEqual([]);
});

/** The id of a member of the first guild who is no member of the second. */
function memberOnlyOf(guild: Guild, other: Guild): string {
	const id = [...guild.members].find(([id, { user }]) => !user.bot && !other.members.has(id))?.[0];
	if (id === undefined) throw new Error("the seed has one");
	return id;
}

describe("a call without guild_id", () => {
	const failing = new ToolError("Not possible.");
	const tool = readTool({
		...about,
		name: "try_it",
		input: { guild_id, fails: v.optional(v.boolean()), lines: v.optional(v.boolean()) },
		run({ fails, lines }) {
			if (fails) throw failing;
			return lines ? ["1 line:", "Done."] : "Done.";
		},
	});

	/** Starts a bot in two guilds. Its tools may access the guilds that `pick` returns; all of them by default. */
	async function startInTwo(pick?: (cooks: string) => string[], { hasOwn = true } = {}) {
		const simulator = await startSimulator();
		const [cooks, bakers] = [simulator.guild("The Cooks"), addToBakers(simulator)];
		const guilds = pick?.(cooks.id);
		const config = connectedConfig(simulator, {
			mcpToken: "a-token",
			guildId: hasOwn ? cooks.id : undefined,
			toml: { mcp: guilds && { guilds } },
		});
		const bot = startBot(config, recordLog().log, { tools: [tool] });
		await until("the bot is ready", () => bot.ready);
		const mcp = await connectTo(bot.url, "a-token");
		return {
			cooks,
			bakers,
			mcp,
			call: async (args: Record<string, unknown>) => {
				const { text } = await mcp.call("try_it", args);
				return text.split("\n");
			},
			async [Symbol.asyncDispose]() {
				await bot.close();
				await simulator.close();
			},
		};
	}

	test("ends with the guild's name where tools may access several", async () => {
		await using bot = await startInTwo();
		const { cooks, bakers, call } = bot;
		const note = `In the guild The Cooks (ID: ${cooks.id}), the bot's own: guild_id was omitted.`;
		expect(await call({})).toEqual(["Done.", note]);
		expect(await call({ guild_id: "" })).toEqual(["Done.", note]);
		expect(await call({ lines: true })).toEqual(["1 line:", "Done.", note]);
		expect(await call({ fails: true })).toEqual(["Not possible.", note]);
		expect(await call({ guild_id: cooks.id })).toEqual(["Done."]);
		expect(await call({ guild_id: bakers.id, fails: true })).toEqual(["Not possible."]);
	});

	test("and without GUILD_ID is refused with the guilds, or acts in the only one that the caller may use", async () => {
		await using bot = await startInTwo(undefined, { hasOwn: false });
		const { cooks, bakers, mcp } = bot;
		const both = `guild_id: is required, because this bot is in several guilds: The Cooks (ID: ${cooks.id}), The Bakers (ID: ${bakers.id})`;
		expect(await bot.call({})).toEqual([`Invalid parameters: ${both}`]);
		const key = { id: "key:k", name: "k", access: "all" } as const;
		const limited = mcp.as({ ...key, guilds: [bakers.id] });
		expect(await limited.call("try_it", {})).toMatchObject({ text: "Done." });
		const bob = mcp.as({ ...key, person: { id: memberOnlyOf(bakers, cooks), name: "bob", signedIn: false } });
		expect(await bob.call("try_it", {})).toMatchObject({ text: "Done." });
		const nobody = mcp.as({ ...key, guilds: ["999999999999999999"] });
		const { text } = await nobody.call("try_it", {});
		expect(text).toBe("Invalid parameters: guild_id: is required, because this bot is in no guild that you may use");
	});

	test("and without GUILD_ID acts in the only guild that the operator allows", async () => {
		await using bot = await startInTwo((cooks) => [cooks], { hasOwn: false });
		expect(await bot.call({})).toEqual(["Done."]);
	});

	test("does not where the operator allows one guild alone", async () => {
		await using bot = await startInTwo((cooks) => [cooks]);
		expect(await bot.call({})).toEqual(["Done."]);
		expect(await bot.call({ fails: true })).toEqual(["Not possible."]);
	});
});

describe("a webhook's token in a result is not shown", () => {
	const url = "https://discord.com/api/webhooks/123456789012345678/a-Secret_1";
	const shown = url.replace("a-Secret_1", "[hidden]");

	test.each([
		["of one line", `by ${url}`, `by ${shown}`],
		["of several lines", ["1", url, `<${url}>`], `1\n${shown}\n<${shown}>`],
	] as [string, string | string[], string][])("%s", async (_, said, text) => {
		await using bot = await startWith(() => reading(async () => said));
		expect(await bot.call()).toEqual({ text, isError: false });
		expect(bot.lines.join()).not.toContain("a-Secret_1");
	});
});
