// What the gateway shows of its backends.

import { expect, test } from "bun:test";
import { duration } from "../../../src/lib/text.ts";

test.each([
	[0, "0 s"],
	[59_999, "59 s"],
	[60_000, "1 min"],
	[3_599_999, "59 min"],
	[3_600_000, "1 h"],
	[2 * 86_400_000 - 1, "47 h"],
	[2 * 86_400_000, "2 d"],
	[100.5 * 86_400_000, "100 d"],
])("%p ms are %s", (ms, shown) => {
	expect(duration(ms)).toBe(shown);
});
