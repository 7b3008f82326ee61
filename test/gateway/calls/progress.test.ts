import { afterEach, expect, jest, test } from "bun:test";
import { relayProgress } from "../../../src/gateway/calls/progress.ts";

afterEach(() => jest.useRealTimers());

test("the latest progress is passed on after a while, and once in an interval if it has grown", () => {
	jest.useFakeTimers();
	const sent: number[] = [];
	const { relay, end } = relayProgress((text) => sent.push(JSON.parse(text).params.progress), {
		afterMs: 20,
		everyMs: 10,
	});
	const report = (progress: unknown, method = "notifications/progress") =>
		relay(JSON.stringify({ jsonrpc: "2.0", method, params: { progressToken: "t", progress } }));
	const after = (ms: number) => {
		jest.advanceTimersByTime(ms);
		return sent.splice(0);
	};
	for (const progress of [1, 3, 2]) report(progress);
	relay("no JSON");
	expect([after(19), after(1), after(20)]).toEqual([[], [3], []]);
	report(9, "notifications/message");
	report(3);
	expect(after(10)).toEqual([]);
	report(4);
	report(5);
	expect([after(9), after(1)]).toEqual([[4], [5]]);
	report(6);
	end();
	report(7);
	const other = relayProgress((text) => sent.push(text.length), { afterMs: 0, everyMs: 0 });
	other.end();
	other.relay('{"method":"notifications/progress","params":{"progress":1}}');
	expect(after(100)).toEqual([]);
});
