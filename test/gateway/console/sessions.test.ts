import { expect, test } from "bun:test";
import { createSessions, type Session, sessionLifetimeMs } from "../../../src/gateway/console/sessions.ts";

const session = (id: number, since: number) =>
	({ id: `${id}`, since, expiresAt: since + sessionLifetimeMs }) as Session;

test("a session from the future is none, but for a minute by which clocks may differ", () => {
	const sessions = createSessions("token", () => 1_000_000);
	expect(sessions.isOpen(session(1, 1_060_000))).toBe(true);
	expect(sessions.isOpen(session(1, 1_060_001))).toBe(false);
});
