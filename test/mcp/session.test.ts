import { expect, test } from "bun:test";
import { RequestsInFlight, Sessions } from "../../src/mcp/session.ts";

function start({ idleTimeoutMs = 100, maxSessions = 3 } = {}) {
	const clock = { now: 1_000 };
	const sessions = new Sessions({ idleTimeoutMs, maxSessions }, () => clock.now);
	const open = (name = "a client") => sessions.open("2025-11-25", name).id;
	return { clock, sessions, open };
}

test("ids are visible ASCII, long, and differ", () => {
	const { open } = start({ maxSessions: 1_000 });
	const ids = Array.from({ length: 1_000 }, () => open());
	expect(new Set(ids).size).toBe(1_000);
	for (const id of ids) expect(id).toMatch(/^[\x21-\x7e]{32,}$/);
});

test("a session idle for the whole time-out ends, and not before", () => {
	const { clock, sessions, open } = start();
	const id = open();
	clock.now += 99;
	expect(sessions.find(id)).toBeDefined();
	clock.now += 99;
	expect(sessions.find(id)).toBeDefined();
	clock.now += 100;
	expect(sessions.find(id)).toBeUndefined();
	expect(sessions.size).toBe(0);
});

test("idle sessions end in the order of their last use, whatever the order of opening", () => {
	const { clock, sessions, open } = start();
	const first = open();
	clock.now += 10;
	const second = open();
	clock.now += 10;
	sessions.find(first);
	clock.now += 90;
	expect(sessions.size).toBe(1);
	expect(sessions.find(second)).toBeUndefined();
	expect(sessions.find(first)).toBeDefined();
});

test("at the most sessions a new one ends the one used least recently", () => {
	const { sessions, open } = start({ maxSessions: 3 });
	const [first, second, third] = [open(), open(), open()];
	sessions.find(first);
	const fourth = open();
	expect(sessions.size).toBe(3);
	expect(sessions.find(second)).toBeUndefined();
	for (const id of [first, third, fourth]) expect(sessions.find(id)).toBeDefined();
});

test("a session that ran out makes room before one in use does", () => {
	const { clock, sessions, open } = start({ maxSessions: 2 });
	open();
	clock.now += 60;
	const second = open();
	clock.now += 60;
	const third = open();
	expect(sessions.find(second)).toBeDefined();
	expect(sessions.find(third)).toBeDefined();
});

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
