// The share of Discord's rate limit that role changes of features leave to others.

import { expect, test } from "bun:test";
import { RateShare } from "../../../src/bot/commands/role-writer.ts";

const never = new AbortController().signal;

test("when only the reserved requests are left, the next one waits until the rate limit resets", async () => {
	const share = new RateShare();
	share.note({ limit: 10, remaining: 3, resetAfterMs: 100_000 });
	expect(await share.ready(never, 0)).toBe(true);
	share.note({ limit: 10, remaining: 2, resetAfterMs: 50 });
	expect(await share.ready(never, 0)).toBe(false);
	expect(await share.ready(never)).toBe(true);
});

test("a wait that would be too long is refused at once, and one ends with the bot", async () => {
	const share = new RateShare();
	share.note({ limit: 10, remaining: 0, resetAfterMs: 100_000 });
	expect(await share.ready(never, 60_000)).toBe(false);
	const closing = new AbortController();
	const waiting = share.ready(closing.signal);
	closing.abort();
	expect(await waiting).toBe(false);
});
