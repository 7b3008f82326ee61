// The delays between connections to Discord's Gateway, on a clock and by a chance that the test sets.

import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { type ConnectionEnd, ReconnectDelay } from "../../../src/discord/connection/reconnect-delay.ts";
import { defaultTiming } from "../../../src/discord/connection/socket.ts";

let random: { mockReturnValue(value: number): unknown; mockRestore(): void };
beforeEach(() => {
	random = spyOn(Math, "random");
	random.mockReturnValue(1);
});
afterEach(() => random.mockRestore());

const refused = {};
const lostLogin = { hasIdentified: true };
const invalid = { isInvalid: true };
const refusedLogin = { hasIdentified: true, isInvalid: true };
const lasted = { hasIdentified: true, readyMs: 10_000 };
const short = { hasIdentified: true, readyMs: 9_999 };

test.each<[what: string, ends: ConnectionEnd[], longestMs: number[]]>([
	["refused connections", [refused, refused, refused, refused, refused], [500, 1_000, 2_000, 2_000, 2_000]],
	["an invalid session, which is no failure", [refused, refused, invalid, refused], [500, 1_000, 5_000, 2_000]],
	[
		"logins without a session, of which there may be few",
		[refused, refused, ...Array(9).fill(lostLogin)],
		[500, 1e3, 2e3, 2e3, 2e3, 4e3, 8e3, 16e3, 32e3, 60e3, 60e3],
	],
	[
		"logins that are answered with an invalid session",
		Array(6).fill(refusedLogin),
		[5_000, 5_000, 5_000, 5_000, 8_000, 16_000],
	],
	[
		"sessions that lasted",
		[...Array(6).fill(refusedLogin), lasted, refused],
		[5e3, 5e3, 5e3, 5e3, 8e3, 16e3, 500, 1e3],
	],
	["sessions that did not last", Array(5).fill(short), [500, 1_000, 2_000, 4_000, 8_000]],
	["a session that lasted and became invalid", [lasted, { ...lasted, isInvalid: true }, refused], [500, 5_000, 500]],
])("the longest delays after %s", (_, ends, longestMs) => {
	const delay = new ReconnectDelay(defaultTiming, () => 0);
	expect(ends.map((end) => delay.next(end))).toEqual(longestMs);
});

test.each([
	[199, 2_000],
	[300, 3_000],
	[600, 6_000],
	[6_000, 60_000],
	[86_400, 60_000],
])("%d s into an outage the longest delay is %d ms", (seconds, longestMs) => {
	let now = 5_000;
	const delay = new ReconnectDelay(defaultTiming, () => now);
	for (let count = 0; count < 20; count++) delay.next();
	now += seconds * 1_000;
	expect(delay.next()).toBe(longestMs);
});

test("the shortest delays are half as long, and 1 s after an invalid session", () => {
	random.mockReturnValue(0);
	const delay = new ReconnectDelay(defaultTiming, () => 0);
	const ends = [refused, refused, refused, refused, invalid];
	expect(ends.map((end) => delay.next(end))).toEqual([250, 500, 1_000, 1_000, 1_000]);
});

test("in a day of logins without a session the bot uses a fifth of its 900 an hour at most", () => {
	let now = 0;
	const delay = new ReconnectDelay(defaultTiming, () => now);
	random.mockReturnValue(0);
	let logins = 0;
	for (; now < 3_600_000; logins++) now += delay.next(refusedLogin);
	expect(logins).toBeLessThanOrEqual(180);
});
