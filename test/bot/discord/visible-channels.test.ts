// Tools find channels through functions that leave out what the person in whose name a call acts does not see.

import { expect, test } from "bun:test";
import { join } from "node:path";

const bot = join(import.meta.dir, "../../../src/bot");

/** The folders whose code runs in tool calls. Beside them, guild documents need an administrator, who sees everything. */
const folders = ["channels", "guild", "messages", "tool", "tools"];

/** Files that look at all channels, and why that shows nothing. */
const exceptions = new Map([
	["messages/embed-queue.ts", "posts what the bot itself writes"],
	["tools/locks.ts", "takes locks before the call is authorized"],
]);

test("no tool looks channels up in discord.js's cache", async () => {
	const found: string[] = [];
	for (const file of new Bun.Glob(`{${folders.join(",")}}/*.ts`).scanSync(
		bot,
	)) {
		const source = await Bun.file(join(bot, file)).text();
		const isBypass = /\b(channels|threads)\??\s*\.cache\b/.test(source);
		if (isBypass) found.push(file);
	}
	expect(found.sort()).toEqual([...exceptions.keys()]);
});
