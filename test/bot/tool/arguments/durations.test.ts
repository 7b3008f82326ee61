// Durations as arguments of tools.

import { expect, test } from "bun:test";
import * as v from "valibot";
import { duration, durationOf, durationPattern } from "../../../../src/bot/tool/arguments/arguments.ts";
import { durationText } from "../../../../src/lib/times.ts";
import { toJsonSchema } from "../../../../src/mcp/json-schema.ts";

const slow = duration({ min: "5s", max: "6h", none: "off" }, "Slow mode.");
const whole = duration({ min: "1h", max: "32d", whole: "hours" }, "A poll.");
const choice = durationOf(["1h", "1d"], "One.");

test.each([
	[slow, "90m", 5400],
	[slow, "1h30m", 5400],
	[slow, "6 hours", 21_600],
	[slow, "off", 0],
	[slow, "0s", 0],
	[whole, "32d", 2_764_800],
	[choice, "24h", 86_400],
])("a tool receives seconds: %#", (schema, text, seconds) => {
	expect(v.parse(schema, text)).toBe(seconds);
	expect(text).toMatch(new RegExp(durationPattern));
});

test.each([
	[slow, "4s", 'expected a duration from 5s to 6h or "off", received "4s"'],
	[slow, "7h", 'expected a duration from 5s to 6h or "off", received "7h"'],
	[slow, "none", 'expected a duration from 5s to 6h or "off", received "none"'],
	[slow, "30", 'expected a duration from 5s to 6h or "off", received "30"'],
	[whole, "90m", 'expected a duration from 1h to 32d in whole hours, received "90m"'],
	[whole, "0s", 'expected a duration from 1h to 32d in whole hours, received "0s"'],
	[choice, "2d", 'expected one of 1h, 1d, received "2d"'],
])("an error names the limits as durations: %#", (schema, text, message) => {
	expect(v.safeParse(schema, text).issues?.[0].message).toBe(message);
});

test("JSON Schema has a pattern of all durations", () => {
	expect(toJsonSchema(whole)).toEqual({ type: "string", pattern: durationPattern, description: "A poll." });
});

test.each([0, 1, 60, 90, 5400, 86_400, 90_000])("the text of %d s is read as that", (seconds) => {
	const all = duration({ max: "1y", none: "none" }, "Any.");
	expect(v.parse(all, durationText(seconds))).toBe(seconds);
});
