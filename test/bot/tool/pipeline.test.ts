// The pipeline that every call goes through: what a tool may send, and what of its result is shown.

import { describe, expect, test } from "bun:test";
import { Routes } from "discord.js";
import * as v from "valibot";
import type { ToolContext } from "../../../src/bot/tool/context.ts";
import {
	destructiveTool,
	readTool,
	writeTool,
} from "../../../src/bot/tool/define.ts";
import type { BotTool } from "../../../src/bot/tool/toolsets.ts";
import { startWorld, writes } from "../../support/world.ts";

const about = {
	toolset: "messages",
	title: "Try",
	description: "Try it.",
	input: v.strictObject({}),
} as const;

type Work = (context: ToolContext) => Promise<string | string[]>;

const reading = (run: Work) =>
	readTool({ ...about, name: "try_it", run: (_, it) => run(it) });
const writing = (run: Work) =>
	writeTool({ ...about, name: "try_it", run: (_, it) => run(it) });
const planning = (plan: Work, act: Work) =>
	destructiveTool({
		...about,
		name: "try_it",
		plan: async (_, it) => ({ preview: await plan(it), act: () => act(it) }),
	});

/** A bot that has this tool alone, and writing a message as its platform knows it. */
async function startWith(make: (send: Work) => BotTool) {
	const send: Work = async ({ discord }) => {
		const channel = discord.channels.cache.find(
			(one) => "name" in one && one.name === "general",
		);
		await discord.rest.post(Routes.channelMessages(channel?.id ?? ""), {
			body: { content: "hello" },
		});
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
	] as [string, (send: Work) => BotTool][])(
		"of %s is a bug, and never sent",
		async (_, make) => {
			await using bot = await startWith(make);
			const { code } = await bot.call();
			expect(code).toBe(-32603);
			expect(bot.written()).toEqual([]);
			expect(bot.lines.join()).toContain("write not allowed: POST");
		},
	);

	test.each([
		["a tool that writes", writing],
		["what a destructive tool does", (send) => planning(nothing, send)],
	] as [string, (send: Work) => BotTool][])(
		"of %s is sent",
		async (_, make) => {
			await using bot = await startWith(make);
			expect(await bot.call()).toEqual({ text: "Sent.", isError: false });
			expect(bot.written()).toHaveLength(1);
		},
	);
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
	expect(logged).toContain("a tool failed after a write");
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
