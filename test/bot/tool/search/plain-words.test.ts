// Searches for tools that consist of words that are ignored beside others.

import { expect, test } from "bun:test";
import { searchTools } from "../../../../src/bot/tool/search/tool-search.ts";
import { tools } from "../../../../src/bot/tools/index.ts";

test.each(["tools", "find the tools", "everyone", "use discord"])("%j alone finds tools", (query) => {
	expect(searchTools(query, tools, 3).best).not.toEqual([]);
});

test("beside other words they do not count", () => {
	const found = (query: string) => searchTools(query, tools, 3).best.map(({ name }) => name);
	expect(found("please find me what bans users")).toEqual(found("bans users"));
});
