// The state machine of a store, without a database.

import { expect, test } from "bun:test";
import { type StoreEvent, type StoreState, transition, usableSession } from "../../../src/lib/store/state.ts";

type State = StoreState<string>;
type Event = StoreEvent<string>;

const connecting: State = { name: "connecting", reason: "away" };
const ready: State = { name: "ready", session: "a" };
const refusing: State = { name: "refusing", session: "a", reason: "full", refusedAt: 1 };
const ended: State = { name: "ended", reason: "closed" };

const opened: Event = { type: "opened", session: "b" };
const lost: Event = { type: "lost", session: "a", reason: "cut" };
const refused: Event = { type: "refused", session: "a", reason: "full", at: 2 };
const written: Event = { type: "written", session: "a" };
const end: Event = { type: "ended", reason: "closed" };

test.each<[from: State, event: Event, to: State]>([
	[connecting, opened, { name: "ready", session: "b" }],
	[connecting, { type: "unavailable", reason: "slow" }, { name: "connecting", reason: "slow" }],
	[ready, lost, { name: "connecting", reason: "cut" }],
	[refusing, lost, { name: "connecting", reason: "cut" }],
	[ready, refused, { ...refusing, refusedAt: 2 }],
	[refusing, refused, { ...refusing, refusedAt: 2 }],
	[refusing, written, ready],
	[connecting, end, ended],
	[ready, end, ended],
	[refusing, end, ended],
])("%j after %j is %j", (from, event, to) => {
	expect(transition(from, event)).toEqual(to);
});

test.each<[from: State, event: Event]>([
	// Of a session that is not the current one.
	[ready, { ...lost, session: "b" }],
	[ready, { ...refused, session: "b" }],
	[refusing, { ...written, session: "b" }],
	[refusing, { ...lost, session: "b" }],
	[connecting, lost],
	[connecting, refused],
	[connecting, written],
	[ready, written],
	[ready, opened],
	[ready, { type: "unavailable", reason: "slow" }],
	// Final.
	[ended, opened],
	[ended, { type: "unavailable", reason: "slow" }],
	[ended, lost],
	[ended, refused],
	[ended, written],
	[ended, { type: "ended", reason: "another" }],
])("%j ignores %j", (from, event) => {
	expect(transition(from, event)).toBe(from);
});

test("only a session that holds the claim can be used, and none after the end", () => {
	const states = [connecting, ready, refusing, ended];
	const usable = states.filter((state) => usableSession(state) !== undefined);
	expect(usable).toEqual([ready, refusing]);
});
