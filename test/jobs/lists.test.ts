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

test("the list of all tools costs a client at most 75 KB through the gateway", async () => {
	const list = await measureList("all");
	show("all tools", list);
	expect(list.bytes).toBeLessThanOrEqual(75_000);
});

test("with moderation, it costs a client at most 85 KB", async () => {
	const list = await measureList("all", {
		features: { moderation: true },
		moderation: {},
	});
	show("all tools, with moderation", list);
	expect(list.bytes).toBeLessThanOrEqual(85_000);
});
