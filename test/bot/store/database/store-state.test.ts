// The state machine of a store, without a database.

import { expect, test } from "bun:test";
import {
	type StoreEvent,
	type StoreState,
	transition,
	usableSession,
} from "../../../../src/bot/store/database/store-state.ts";

type State = StoreState<string>;
type Event = StoreEvent<string>;

const connecting: State = { name: "connecting", reason: "away" };
const ready: State = { name: "ready", session: "a" };
const refusing: State = {
	name: "refusing",
	session: "a",
	reason: "full",
	refusedAt: 1,
};
const closing: State = {
	name: "closing",
	session: "a",
	reason: "the bot's database is being closed",
};
const failed: State = { name: "failed", reason: "claimed by another" };
const closed: State = {
	name: "closed",
	reason: "the bot's database is closed",
};

const opened: Event = { type: "opened", session: "b" };
const lost: Event = { type: "lost", session: "a", reason: "cut" };
const refused: Event = { type: "refused", session: "a", reason: "full", at: 2 };
const written: Event = { type: "written", session: "a" };

test.each<[from: State, event: Event, to: State]>([
	[connecting, opened, { name: "ready", session: "b" }],
	[connecting, { type: "unavailable", reason: "slow" }, { name: "connecting", reason: "slow" }],
	[ready, lost, { name: "connecting", reason: "cut" }],
	[refusing, lost, { name: "connecting", reason: "cut" }],
	[ready, refused, { ...refusing, refusedAt: 2 }],
	[refusing, refused, { ...refusing, refusedAt: 2 }],
	[refusing, written, ready],
	[ready, { type: "closing" }, closing],
	[refusing, { type: "closing" }, closing],
	[connecting, { type: "closing" }, { ...closing, session: undefined }],
	[closing, lost, { ...closing, session: undefined }],
	[{ ...closing, session: undefined }, opened, { ...closing, session: "b" }],
	[connecting, { type: "failed", reason: "edited" }, { name: "failed", reason: "edited" }],
	[closing, { type: "closed" }, closed],
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
	[closing, refused],
	[closing, written],
	[closing, { type: "unavailable", reason: "slow" }],
	// Final.
	[failed, opened],
	[failed, { type: "closing" }],
	[failed, { type: "closed" }],
	[closed, opened],
	[closed, { type: "closing" }],
	[closed, lost],
])("%j ignores %j", (from, event) => {
	expect(transition(from, event)).toBe(from);
});

test("only a session that holds the claim can be used, and none while closing", () => {
	const states = [connecting, ready, refusing, closing, failed, closed];
	const usable = states.filter((state) => usableSession(state) !== undefined);
	expect(usable).toEqual([ready, refusing]);
});
