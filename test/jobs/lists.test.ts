// What the lists of tools cost every model at every step. `bun run bench:tools` shows what takes how much.

import { expect, test } from "bun:test";
import { measureList, show } from "./sizes.ts";

test("the default list costs a client at most 30 KB through the gateway", async () => {
	const list = await measureList();
	const { bytes, tools } = list;
	show("default list", list);
	expect(bytes).toBeLessThanOrEqual(30_000);
	expect(tools).toBeLessThanOrEqual(45);
});

test("a tool costs a client 775 bytes on average", async () => {
	const list = await measureList("all");
	show("all tools", list);
	expect(list.bytes / list.tools).toBeLessThanOrEqual(775);
});

test("every listed tool has a title", async () => {
	expect((await measureList("all", { features: { moderation: true } })).untitled).toEqual([]);
});

test("a tool costs a client at most 1,900 bytes, also with moderation", async () => {
	const list = await measureList("all", { features: { moderation: true } });
	show("all tools, with moderation", list);
	expect(list.byTool.filter(([, bytes]) => bytes > 1_900)).toEqual([]);
});
