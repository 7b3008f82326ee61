// The event streams of the console, with a timer that the test controls.

import { expect, test } from "bun:test";
import type { RecentCall } from "../../../src/gateway/calls/recent-calls.ts";
import { Events, maxOfPeople, maxPerSession, maxStreams } from "../../../src/gateway/console/events.ts";
import type { Session } from "../../../src/gateway/console/sessions.ts";
import { viewerOf } from "../../../src/gateway/console/viewer.ts";
import { recordLog } from "../../support/log.ts";

function startWorld() {
	const calls: Pick<RecentCall, "seq">[] = [];
	const open = { isOpen: true, isEndedElsewhere: false, note: "" };
	let tick: (() => void) | undefined;
	const events = new Events({
		state: {
			now: () => open.note as never,
			load: async () => {},
			callsFor: (_, from = 0) => calls.slice(from) as RecentCall[],
		},
		recent: {
			approvalChanges: 0,
			get next() {
				return calls.length;
			},
		},
		sessions: {
			isOpen: () => open.isOpen,
			async refresh() {
				open.isOpen &&= !open.isEndedElsewhere;
			},
		},
		log: recordLog().log,
		startTicking(given) {
			tick = given;
			return () => {
				tick = undefined;
			};
		},
	});
	return {
		events,
		calls,
		open,
		isTicking: () => tick !== undefined,
		ticks(count: number) {
			for (let done = 0; done < count; done++) tick?.();
		},
		add(count: number) {
			for (let added = 0; added < count; added++) calls.push({ seq: calls.length });
		},
	};
}

const viewer = (id: string) => viewerOf({ id, person: undefined } as unknown as Session);

/** Returns a viewer: a person with a session of this id. */
const personal = (id: string, person: string) => viewerOf({ id, person: { id: person, name: "" } } as Session);

function reading(response: Response) {
	const reader = response.body?.getReader();
	const decoder = new TextDecoder();
	return {
		/** Resolves with the next text that was sent. */
		next: async () => {
			const { value, done } = (await reader?.read()) ?? { done: true };
			return done ? undefined : decoder.decode(value as Uint8Array);
		},
		cancel: () => reader?.cancel(),
	};
}

test("the timer runs only while there are streams", async () => {
	const { events, isTicking } = startWorld();
	expect(isTicking()).toBe(false);
	const first = reading(await events.open(viewer("a")));
	const second = reading(await events.open(viewer("b")));
	expect(isTicking()).toBe(true);
	await first.cancel();
	expect([isTicking(), events.size]).toEqual([true, 1]);
	await second.cancel();
	expect([isTicking(), events.size]).toEqual([false, 0]);
});

test("a silent stream says that it is alive", async () => {
	const { events, ticks } = startWorld();
	const { next } = reading(await events.open(viewer("a")));
	for (let begun = 0; begun < 3; begun++) await next();
	ticks(15);
	const sent = next();
	ticks(1);
	expect(await sent).toBe("event: alive\ndata: {}\n\n");
});

test("calls that arrive at once are sent together", async () => {
	const { events, ticks, add } = startWorld();
	const { next } = reading(await events.open(viewer("a")));
	for (let begun = 0; begun < 3; begun++) await next();
	add(80);
	ticks(1);
	const [, data = ""] = /^event: calls\ndata: (.*)\n\n$/.exec((await next()) ?? "") ?? [];
	expect(JSON.parse(data).calls).toHaveLength(80);
});

test("the state is sent when it has changed", async () => {
	const { events, ticks, open } = startWorld();
	const { next } = reading(await events.open(viewer("a")));
	for (let begun = 0; begun < 3; begun++) await next();
	ticks(8);
	open.note = "other";
	ticks(4);
	expect(await next()).toBe('event: state\ndata: "other"\n\n');
});

test("a reader that takes nothing is sent nothing more, and is dropped after 20 s", async () => {
	const { events, ticks, open, isTicking } = startWorld();
	open.note = "x".repeat(300_000);
	const response = await events.open(viewer("a"));
	open.note = "y".repeat(300_000);
	ticks(80);
	expect(events.size).toBe(1);
	ticks(1);
	expect([events.size, isTicking()]).toEqual([0, false]);
	expect(response.text()).rejects.toThrow("the reader is too slow");
});

test("a stream ends when its browser has gone, even before it was answered", async () => {
	const { events } = startWorld();
	const gone = new AbortController();
	await events.open(viewer("a"), gone.signal);
	expect(events.size).toBe(1);
	gone.abort();
	expect(events.size).toBe(0);
	await events.open(viewer("a"), gone.signal);
	expect(events.size).toBe(0);
});

test("a state that cannot be described ends the stream, and nothing else", async () => {
	const { events, ticks, open } = startWorld();
	await events.open(viewer("a"));
	Object.defineProperty(open, "note", {
		get() {
			throw new Error("a bug");
		},
	});
	ticks(4);
	expect(events.size).toBe(0);
});

test("a stream ends within 10 s when its session was ended at another gateway", async () => {
	const { events, open, ticks } = startWorld();
	const response = await events.open(viewer("a"));
	open.isEndedElsewhere = true;
	ticks(39);
	expect(events.size).toBe(1);
	ticks(1);
	await Promise.resolve();
	ticks(1);
	expect(await response.text()).toEndWith('{"reason":"expired"}\n\n');
});

test("there are limits for one session and for all", async () => {
	const { events } = startWorld();
	for (let count = 0; count < maxPerSession; count++) await events.open(viewer("a"));
	expect(events.open(viewer("a"))).rejects.toThrow("Too many pages");
	for (let count = maxPerSession; count < maxStreams; count++) await events.open(viewer(`${count}`));
	expect(events.open(viewer("last"))).rejects.toThrow("Too many pages");
	events.close();
	expect(events.size).toBe(0);
});

test("people have limits, however often they sign in, and leave room for the operator", async () => {
	const { events } = startWorld();
	for (let count = 0; count < maxPerSession; count++) await events.open(personal(`${count}`, "ada"));
	expect(events.open(personal("next", "ada"))).rejects.toThrow("Too many");
	for (let count = maxPerSession; count < maxOfPeople; count++) await events.open(personal(`${count}`, `${count}`));
	expect(events.open(personal("new", "new"))).rejects.toThrow("Too many");
	for (let count = maxOfPeople; count < maxStreams; count++) await events.open(viewer(`${count}`));
	expect(events.open(viewer("last"))).rejects.toThrow("Too many");
	events.close();
});

test("when the gateway stops, all streams end", async () => {
	const { events } = startWorld();
	const response = await events.open(viewer("a"));
	events.close();
	expect(await response.text()).toEndWith('event: end\ndata: {"reason":"stopping"}\n\n');
	expect(events.open(viewer("a"))).rejects.toThrow("is stopping");
});

test("when the gateway stops, a reader that has taken nothing is not waited for", async () => {
	const { events, open, ticks } = startWorld();
	const response = await events.open(viewer("a"));
	open.note = "x".repeat(300 * 1024);
	ticks(4);
	events.close();
	expect(response.text()).rejects.toThrow("too slow");
	expect(events.size).toBe(0);
});
