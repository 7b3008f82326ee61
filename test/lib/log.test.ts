import { describe, expect, test } from "bun:test";
import { createLog, type Fields } from "../../src/lib/log.ts";

function write(format: "text" | "json", message: string, fields?: Fields) {
	const lines: string[] = [];
	createLog(format, (line) => lines.push(line)).warn(message, fields);
	expect(lines).toHaveLength(1);
	return lines[0] ?? "";
}

const hostile = [
	"two\nlines",
	"two\r\nlines",
	"back\rto the start",
	"\u001b[2J\u001b]0;title\u0007cleared",
	"\u009b2Jcleared",
	"a\u2028b\u2029c\u0085d\u000be\u000cf",
	'quote " and \\',
	"\ud800 alone",
	'","level":"error","x":"',
];

describe("as JSON", () => {
	test("a line has time, level, message and the fields", () => {
		const line = JSON.parse(write("json", "hello", { a: 1, b: { c: ["d"] } }));
		expect(line).toEqual({
			time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
			level: "warn",
			message: "hello",
			a: 1,
			b: { c: ["d"] },
		});
	});

	test.each(hostile)("%j is one line, and comes back", (text) => {
		const line = write("json", text, { text });
		expect(line).not.toMatch(/[\r\n]/);
		// A lone surrogate has no UTF-8; everything else is kept.
		expect(JSON.parse(line)).toMatchObject({ message: text, text });
	});

	test("an error comes with its stack and its causes", () => {
		const cause = new RangeError("the root", { cause: new Error("of it all") });
		const line = JSON.parse(
			write("json", "failed", { error: new TypeError("outer", { cause }) }),
		);
		expect(line.error).toMatch(
			/^TypeError: outer\n {4}at [\s\S]+\ncaused by: RangeError: the root\n {4}at [\s\S]+\ncaused by: Error: of it all/,
		);
	});
});

describe("as text", () => {
	test("a line has time of day, level, message and the fields", () => {
		expect(write("text", "hello", { a: 1, b: "x y" })).toMatch(
			/^\d\d:\d\d:\d\d WARN {2}hello a=1 b="x y"$/,
		);
	});

	test.each(hostile)("%j is one line without control characters", (text) => {
		expect(write("text", text, { text })).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
	});

	test("an error comes with its stack and its causes", () => {
		const error = new Error("outer", { cause: new Error("inner") });
		expect(write("text", "failed", { error })).toMatch(
			/ failed\nError: outer\n {4}at [\s\S]+\ncaused by: Error: inner\n/,
		);
	});
});

test("each level has its name", () => {
	const lines: string[] = [];
	const log = createLog("json", (line) => lines.push(line));
	log.info("a");
	log.warn("b");
	log.error("c");
	expect(lines.map((line) => JSON.parse(line).level)).toEqual([
		"info",
		"warn",
		"error",
	]);
});
