// Times as arguments: durations, dates, times and ids.

import { afterEach, beforeEach, expect, setSystemTime, test } from "bun:test";
import * as v from "valibot";
import { instant, moment } from "../../../../src/bot/tool/arguments/arguments.ts";
import { nowIs } from "../../../../src/discord/describe.ts";
import { readDuration, readRelativeTime } from "../../../../src/lib/times.ts";

const now = "2026-03-01T12:00:00.000Z";
beforeEach(() => {
	setSystemTime(new Date(now));
});
afterEach(() => {
	setSystemTime();
});

const past = v.optional(moment("After"));
const future = instant("At");
const orNone = instant("Until", true);

const id = "1477677484646400000";
const idTime = new Date(Number((BigInt(id) >> 22n) + 1420070400000n));

test.each([
	["90s", 90],
	["10m", 600],
	["6h", 21_600],
	["6 hours", 21_600],
	["1 Day", 86_400],
	["30d", 2_592_000],
	["2w", 1_209_600],
	["1d12h", 129_600],
	["1h 30min", 5_400],
	["2 months", 5_184_000],
	["1y", 31_536_000],
	["0s", 0],
])("the duration %j has %d seconds", (text, seconds) => {
	expect(readDuration(text)).toBe(seconds * 1000);
});

test.each(["", "6", "h", "6x", "-6h", "6h ago", "1.5h", "٣h", "6h,3m", "h6"])("%j is no duration", (text) => {
	expect(readDuration(text)).toBeUndefined();
});

test.each([
	["6h", "2026-03-01T06:00:00.000Z"],
	["6h ago", "2026-03-01T06:00:00.000Z"],
	["-1d", "2026-02-28T12:00:00.000Z"],
	["in 2h", "2026-03-01T14:00:00.000Z"],
	["now", now],
	["2026-02-28", "2026-02-28T00:00:00.000Z"],
	["2026-02-28 23:59", "2026-02-28T23:59:00.000Z"],
	["2026-02-28T23:59:00+02:00", "2026-02-28T21:59:00.000Z"],
	[id, idTime.toISOString()],
])("a past time reads %j as %s", (text, expected) => {
	const read = v.parse(past, text);
	expect(new Date(read?.atMs ?? 0).toISOString()).toBe(expected);
	const { first, lastBefore } = read ?? {};
	if (text === id) expect([first, lastBefore]).toEqual([id, id]);
	else expect(BigInt(first ?? 0) - 1n).toBe(BigInt(lastBefore ?? 0));
});

test.each([
	["6h", "2026-03-01T18:00:00.000Z"],
	["+30d", "2026-03-31T12:00:00.000Z"],
	["in 6 hours", "2026-03-01T18:00:00.000Z"],
	["1h ago", "2026-03-01T11:00:00.000Z"],
	["2026-03-02", "2026-03-02T00:00:00.000Z"],
	["2026-03-02T18:00", "2026-03-02T18:00:00.000Z"],
	[id, idTime.toISOString()],
])("a future time reads %j as %s", (text, expected) => {
	expect(v.parse(future, text)).toBe(expected);
});

test.each(["", "tomorrow", "2026-02-30", "6", "99999999999", "999999999y"])(
	"%j is no time, and the error names the forms",
	(text) => {
		for (const schema of [past, future]) {
			const { success, issues } = v.safeParse(schema, text);
			expect(success).toBe(false);
			expect(issues?.[0].message).toContain(
				"expected a duration such as 6h, a date such as 2026-01-31, a time such as 2026-01-31T12:00:00Z, or an id",
			);
		}
	},
);

test("a time before Discord's first id is the beginning as a start, and refused as an end", () => {
	for (const text of ["2014-12-31", "2015-01-01", "50y"]) {
		expect(v.safeParse(past, text).success).toBe(false);
		expect(v.parse(moment("After", true), text)).toMatchObject({ first: "0", lastBefore: "0" });
	}
	expect(v.parse(moment("After", true), "2015-01-02")).toEqual(v.parse(moment("Before"), "2015-01-02"));
});

test("nothing is a time only where it stands for none", () => {
	expect(v.parse(orNone, "")).toBe("");
	expect(v.safeParse(orNone, " ").success).toBe(false);
});

test("a sign and a word together are refused", () => {
	expect(readRelativeTime("in 6h ago", 1)).toBeUndefined();
	expect(readRelativeTime("-6h ago", -1)).toBeUndefined();
});

test("nowIs names the current time", () => {
	expect(nowIs()).toBe("now is 2026-03-01T12:00:00Z");
});
