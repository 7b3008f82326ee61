import { expect, test } from "bun:test";
import { RequestsInFlight } from "../../src/mcp/session.ts";

test("requests are cancelled by id and sender, if no other has the id", () => {
	const requests = new RequestsInFlight();
	const ours = requests.begin("1", "ours");
	const theirs = requests.begin("1", "theirs");
	const text = requests.begin('"1"', "ours");
	requests.cancel(1, "others");
	requests.cancel(1);
	expect([ours, theirs, text].map(({ signal }) => signal.aborted)).toEqual([false, false, false]);
	requests.cancel(1, "ours");
	expect([ours, theirs, text].map(({ signal }) => signal.aborted)).toEqual([true, false, false]);
});

test.each([
	[60_000, false],
	[0, true],
])("soon after another request with the id, within %i ms, it is in doubt which is meant", (doubtMs, isCancelled) => {
	const requests = new RequestsInFlight(doubtMs);
	requests.begin("1").end();
	const { signal } = requests.begin("1");
	requests.cancel(1);
	expect(signal.aborted).toBe(isCancelled);
});
