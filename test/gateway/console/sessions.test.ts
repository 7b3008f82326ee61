// Sessions that their owners have ended stay ended, also when there are too many to remember.

import { expect, test } from "bun:test";
import { createSessions, type Session, sessionLifetimeMs } from "../../../src/gateway/console/sessions.ts";

const session = (id: number, since: number) =>
	({ id: `${id}`, since, expiresAt: since + sessionLifetimeMs }) as Session;

test("an ended session is not forgotten before it expires", () => {
	const clock = { now: 1_000_000 };
	const sessions = createSessions("token", () => clock.now);
	for (let id = 0; id < 10_001; id++) {
		clock.now++;
		sessions.end(session(id, clock.now));
	}
	expect(sessions.isOpen(session(0, 1_000_001))).toBe(false);
	expect(sessions.isOpen(session(10_000, clock.now))).toBe(false);
	// Any session that began at the same time as the forgotten one, or earlier, may have been ended.
	expect(sessions.isOpen(session(-1, 1_000_001))).toBe(false);
	expect(sessions.isOpen(session(-1, 1_000_002))).toBe(true);
	clock.now += sessionLifetimeMs - 1;
	expect(sessions.isOpen(session(-1, clock.now))).toBe(true);
});

test("a session from the future is none, but for a minute by which clocks may differ", () => {
	const sessions = createSessions("token", () => 1_000_000);
	expect(sessions.isOpen(session(1, 1_060_000))).toBe(true);
	expect(sessions.isOpen(session(1, 1_060_001))).toBe(false);
});
