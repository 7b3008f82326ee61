// How long a tool goes on with many writes.

import { expect, test } from "bun:test";
import { writeEach } from "../../../src/bot/tool/bulk.ts";
import { withinRun } from "../../../src/discord/rest/rest.ts";

test.each([
	[14_000, 3],
	[4_000, 0],
])("with %d ms left, %d of 3 writes begin", async (ms, count) => {
	const written: number[] = [];
	const run = {
		signal: new AbortController().signal,
		reason: undefined,
		endsAt: performance.now() + ms,
		mayWrite: true,
	};
	const bulk = {
		items: [1, 2, 3],
		idOf: String,
		describe: String,
		write: async (item: number) => void written.push(item),
		done: () => "Done:",
	};
	const call = { signal: undefined, reportProgress() {} };
	await withinRun(run, () => writeEach(bulk, call)).catch(() => {});
	expect(written).toHaveLength(count);
});
