import { expect, test } from "bun:test";
import { parseJson } from "../../src/lib/json.ts";

test.each([
	['{"a":[1]}', { a: [1] }],
	["null", null],
	["", undefined],
	["<html>", undefined],
	['{"a":', undefined],
])("%s is %p", (text, value) => {
	expect<unknown>(parseJson(text)).toEqual(value);
});
