// How much there is to know about defining a tool.

import { expect, test } from "bun:test";
import type { BotToolDefinition } from "../../../src/bot/tool/context.ts";

/** All keys of a definition: the type checker refuses one that is missing or too many. */
const keys: Record<keyof BotToolDefinition<Record<never, never>>, true> = {
	name: true,
	toolset: true,
	title: true,
	description: true,
	input: true,
	offered: true,
	permissions: true,
	permissionsIn: true,
	person: true,
	ranked: true,
	intents: true,
	lock: true,
	destructive: true,
	run: true,
	plan: true,
};

test("a tool is defined by at most 15 keys", () => {
	expect(Object.keys(keys).length).toBeLessThanOrEqual(15);
});
