// Writing to many things in turn: when it ends early, and what it tells meanwhile.

import { expect, test } from "bun:test";
import { forModels } from "../../../src/bot/results/result.ts";
import { type Bulk, writeEach } from "../../../src/bot/tool/bulk.ts";
import { PlatformBusy, type ToolRun, withinRun } from "../../../src/discord/rest/rest.ts";
import type { ToolCall } from "../../../src/mcp/tool.ts";

const silent: ToolCall = { signal: undefined, reportProgress() {} };

/** Marks numbers in `marked`; `before` can interfere. */
function marking(count: number, before: (item: number) => void = () => {}) {
	const marked: number[] = [];
	const bulk: Bulk<number> = {
		items: Array.from({ length: count }, (_, index) => index + 1),
		isSorted: true,
		idOf: String,
		describe: (item) => `number ${item}`,
		async write(item) {
			before(item);
			marked.push(item);
		},
		done: (count, of) => `Marked ${count} of ${of}:`,
	};
	return { bulk, marked };
}

test("all are written to in order, and progress is reported after each", async () => {
	const { bulk, marked } = marking(3);
	const reports: unknown[] = [];
	const lines = forModels(await writeEach(bulk, { ...silent, reportProgress: (...report) => reports.push(report) }));
	expect(lines).toEqual(["Marked 3 of 3:", "number 1", "number 2", "number 3"]);
	expect(marked).toEqual([1, 2, 3]);
	expect(reports).toEqual([
		[1, 3],
		[2, 3],
		[3, 3],
	]);
});

test("of many that went well the first are named, and the rest counted", async () => {
	const lines = forModels(await writeEach(marking(60).bulk, silent));
	expect(lines).toHaveLength(52);
	expect(lines.at(-1)).toBe("… and 10 more");
});

test("of as many as are named nothing is left to count", async () => {
	const lines = forModels(await writeEach(marking(50).bulk, silent));
	expect(lines).toHaveLength(51);
	expect(lines.at(-1)).toBe("number 50");
});

test("it ends before the tool's time does, and says where to go on", async () => {
	const run: ToolRun = {
		signal: new AbortController().signal,
		endsAt: performance.now() + 600_000,
		reason: undefined,
		mayWrite: true,
	};
	const { bulk, marked } = marking(4, (item) => {
		if (item === 2) run.endsAt = performance.now() + 4_000;
	});
	const lines = forModels(await withinRun(run, () => writeEach(bulk, silent)));
	expect(marked).toEqual([1, 2]);
	expect(lines.slice(-2)).toEqual([
		"2 not started: the tool's time is up. To continue, call again with the same arguments with after=2.",
		"next_after=2",
	]);
});

test("after the caller disconnected no write starts", async () => {
	const hangUp = new AbortController();
	const { bulk, marked } = marking(4, (item) => {
		if (item === 3) hangUp.abort();
	});
	const lines = forModels(await writeEach(bulk, { ...silent, signal: hangUp.signal }));
	expect(marked).toEqual([1, 2, 3]);
	expect(lines).toContain("next_after=3");
	expect(lines.at(-2)).toContain("1 not started: the caller disconnected.");
});

test("where nothing was done that is an error, and without a place to go on from", async () => {
	const { bulk } = marking(2, () => {
		throw new PlatformBusy("rate limit", 90_000);
	});
	const failed = await writeEach(bulk, silent).then(String, (error) => error);
	expect(failed.name).toBe("ToolError");
	expect(failed.message).toStartWith("Marked 0 of 2:\n2 not started: ");
	expect(failed.message).toContain("in 90 s");
	expect(failed.message).toEndWith("call again with the same arguments.");
});

test("a bug of ours is not taken for a refusal by Discord", async () => {
	const { bulk } = marking(2, () => {
		throw new TypeError("a bug");
	});
	expect(writeEach(bulk, silent)).rejects.toThrow(TypeError);
});
