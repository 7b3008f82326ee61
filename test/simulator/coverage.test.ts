// Every event is named in a test. Every route is called, with any body and query, by hostile.long.test.ts.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { guildIntents } from "../../src/simulator/world/state/events.ts";

test("every event is named in a test of the simulator", async () => {
	const files = [...new Bun.Glob("**/*.test.ts").scanSync(import.meta.dir)];
	const texts = await Promise.all(files.map((file) => Bun.file(join(import.meta.dir, file)).text()));
	const text = texts.join("\n");
	expect(Object.keys(guildIntents).filter((event) => !new RegExp(`\\b${event}\\b`).test(text))).toEqual([]);
});
