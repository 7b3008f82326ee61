// What find_tools answers to the questions: how many right answers come first, and how often it says that nothing does it.

import { expect, test } from "bun:test";
import { tools } from "../../../../src/bot/tools/index.ts";
import { testWith } from "../../../support/test-with.ts";
import { startWorld } from "../../../support/world.ts";
import { elsewhere, impossible, possible } from "./questions.ts";

const start = (changes: object = {}) => startWorld({}, { toml: { features: { moderation: true }, ...changes } });
const searchTest = testWith(start);

/** The tool, part of a document, command or switch that comes first; "" if there is none. */
function answerIn(text: string): string {
	const [part] = /(?<=with a document such as \{")\w+/.exec(text) ?? [];
	if (!/^No tool (?:does|matches) this/.test(text)) return part ?? text.split(" ", 1).join();
	return /(?<= the command )\/\w+|features\.\w+/.exec(text)?.[0] ?? "";
}

searchTest("the right answer is first, and what nothing does has none", async (bot) => {
	const ask = async (query: string) => (await bot.call("find_tools", { query })).text;
	const wrong: string[] = [];
	for (const [query, ...answers] of possible) {
		const answer = answerIn(await ask(query));
		if (!answers.includes(answer)) wrong.push(`${query}: ${answer}`);
	}
	expect(wrong).toEqual([]);
	const found: string[] = [];
	for (const query of impossible) {
		const text = await ask(query);
		if (answerIn(text) !== "") found.push(`${query}: ${text}`);
	}
	expect(found).toEqual([]);
	expect([possible.length, impossible.length]).toEqual([56, 20]);
});

searchTest("finds a tool: what a question only mentions hides no tool", async (bot) => {
	const answers = [];
	for (const [query] of elsewhere) answers.push([query, answerIn((await bot.call("find_tools", { query })).text)]);
	expect(answers).toEqual(elsewhere.map((row) => [...row]));
});

searchTest("the tools that a question names follow what nothing does", async (bot) => {
	const ask = async (query: string) => (await bot.call("find_tools", { query })).text;
	expect(await ask("send a message at 5")).toMatch(/^No tool does this: tools act at once\.\nsend_message \(/);
	expect(await ask("transfer the ownership; send a message at 5")).toEndWith(
		'"send a message at 5", or else send_message:\nNo tool does this: tools act at once.',
	);
	expect(await ask("back up the server")).toBe(
		"No tool does this. The bot does it by itself, where its operator turns on backup in config.toml.",
	);
	// https://docs.discord.com/developers/resources/channel#modify-channel has no field for it.
	expect(await ask("give ownership of a thread")).toBe("No tool matches this. Try other words.");
});

searchTest("nothing that a tool says of itself is answered with another way", async (bot) => {
	for (const { name, listing } of tools) {
		const { text } = await bot.call("find_tools", { query: String(listing.title) });
		expect([name, answerIn(text).replace(/^\W/, "")]).toEqual([name, expect.stringMatching(/^[a-z]+(_[a-z]+)*$/)]);
		expect(text).not.toStartWith("No tool");
	}
});

test("another way is named as the configuration has it", async () => {
	const ask = async (query: string, changes?: object) => {
		await using bot = await start(changes);
		return (await bot.call("find_tools", { query })).text;
	};
	expect(await ask("report a message", { features: { moderation: false } })).toBe(
		"No tool does this. People have the command /report of this bot, where its operator turns on features.moderation in config.toml.",
	);
	expect(await ask("report a message")).toBe("No tool does this. People have the command /report of this bot.");
	expect(await ask("choose the channel for reports of members")).toMatch(/^set_settings .*\{"moderation\.reports":/);
	expect(await ask("stop hijacked accounts")).toMatch(/^set_settings .*\{"spam\.on":/);
	expect(await ask("reaction roles", { features: { moderation: false } })).toContain(
		"/rolemenu of this bot, where its operator turns on features.moderation in",
	);
	expect(await ask("greet people who join")).toMatch(
		/^set_settings \(.+\) with settings such as \{"welcome\.channel":/,
	);
	const welcome = "set the welcome screen";
	expect(await ask(welcome)).toStartWith(
		'plan_guild (listed: call it directly) with a document such as {"welcome_screen":{',
	);
	expect(await ask(welcome, { mcp: { tools: { deny: ["plan_guild"] } } })).toBe(
		"No tool matches this. Try other words.",
	);
	expect(await ask("add an event", { mcp: { tools: { deny: ["create_scheduled_event"] } } })).toContain('{"events":');
	expect(await ask(`transfer the ownership; ${welcome}`)).toMatch(
		/^"transfer the ownership":\nNo tool does this: only the guild's owner can\.\n"set the welcome screen":\nplan_guild \(/,
	);
});
