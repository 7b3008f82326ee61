import { expect, test } from "bun:test";
import { hasMoreValues, parseJson } from "../../src/lib/json.ts";

test.each([
	['{"a":[1]}', { a: [1] }],
	["null", null],
	["", undefined],
	["<html>", undefined],
	['{"a":', undefined],
])("%s is %p", (text, value) => {
	expect<unknown>(parseJson(text)).toEqual(value);
});

test.each([
	["[1,2,3]", 3],
	['{"a":{},"b":[[]]}', 5],
	[JSON.stringify(['{,["{,[\\', 0]), 2],
	['["[{,"]', 1],
])("%s has %d brackets and commas outside of strings", (text, count) => {
	expect(JSON.parse(text)).toBeDefined();
	expect(hasMoreValues(text, count)).toBe(false);
	expect(hasMoreValues(text, count - 1)).toBe(true);
});
