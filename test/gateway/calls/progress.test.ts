import { expect, test } from "bun:test";
import { relayProgress } from "../../../src/gateway/calls/progress.ts";

test("progress is passed on after a while, at most once in an interval, and nothing else is", () => {
	const sent: string[] = [];
	let now = 100;
	const relay = relayProgress(
		(text) => sent.push(text),
		now,
		{ afterMs: 2_000, everyMs: 1_000 },
		() => now,
	);
	const report = (at: number, method = "notifications/progress") => {
		now = at;
		relay(JSON.stringify({ jsonrpc: "2.0", method, params: { progressToken: "t", progress: at } }));
	};
	for (const at of [100, 2_099, 2_100, 2_101, 3_099, 3_100]) report(at);
	report(5_000, "notifications/message");
	now = 6_000;
	relay("no JSON");
	expect(sent.map((text) => JSON.parse(text).params.progress)).toEqual([2_100, 3_100]);
});
