// Every route and every event is used by a test.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { allRoutes } from "../../src/simulator/rest/routes/all.ts";
import { guildIntents } from "../../src/simulator/world/state/events.ts";
import { readCoverage } from "./coverage.ts";

const tests = readCoverage();

test("every route and every event has its test in the table", () => {
	const known = new Set([...allRoutes.map(({ name }) => name), ...Object.keys(guildIntents)]);
	const listed = new Set(tests.keys());
	// The table is in coverage.ts.
	expect({ missing: [...known.difference(listed)], unknown: [...listed.difference(known)] }).toEqual({
		missing: [],
		unknown: [],
	});
});

test("every test that the table names exists", async () => {
	const missing: string[] = [];
	for (const { file, name } of tests.values()) {
		const source = await Bun.file(join(import.meta.dir, file)).text();
		// `test`, or a test with a fixture, such as `simulatorTest`.
		if (!new RegExp(`[tT]est\\(${RegExp.escape(JSON.stringify(name))}`).test(source)) missing.push(`${file}: ${name}`);
	}
	expect(missing).toEqual([]);
});
