import { expect, test } from "bun:test";
import { isShown, keepLine, parseLine, toJson, toText, unexpectedLine } from "../../src/up/log-lines.ts";

const time = "2020-01-02T03:04:05.678Z";
const line = (fields: Record<string, unknown>) =>
	JSON.stringify({ time, level: "info", message: "bot is online", ...fields });

test("a line of a program gets the program's name, as JSON and as text", () => {
	const parsed = parseLine("alpha", line({ instance: "b", ms: 3 }), "");
	expect(JSON.parse(toJson(parsed))).toEqual({
		time,
		level: "info",
		message: "bot is online",
		instance: "b",
		ms: 3,
		program: "alpha",
	});
	expect(toText(parsed)).toBe('03:04:05 INFO  alpha: bot is online instance="b" ms=3');
});

test("a program cannot say that a line is another's", () => {
	const parsed = parseLine("alpha", line({ program: "gateway" }), "");
	expect(JSON.parse(toJson(parsed)).program).toBe("alpha");
});

test("the stack of an error has lines of its own as text", () => {
	const error = "Error: no\n    at a (b.ts:1)";
	const [first, ...rest] = toText(parseLine("alpha", line({ error, ms: 1 }), "")).split("\n");
	expect(first).toBe("03:04:05 INFO  alpha: bot is online ms=1");
	expect(rest).toEqual(["  Error: no", "      at a (b.ts:1)"]);
});

const hostile = [
	"plain text",
	"",
	"null",
	"[1]",
	"{}",
	'{"level":"loud","message":"x","time":"y"}',
	'{"level":"info","message":1,"time":"y"}',
	'{"level":"info","message":"x","time":5}',
	'{"time":"a","level":"info","message":"x"',
	'{"__proto__":{"level":"info"},"message":"x"}',
	"\u001b[2J\u001b[1;1H gone",
	"one\rtwo\u0008\u007f\u009b1A\u2028",
	line({ name: "\u001b[31m\u009b2J\u202e", "\u001b[1m": "key" }),
	line({ message: "\u001b]0;title\u0007\n\r" }),
	line({ time: "2020-01-02T\u001b[1A\u001b[2K" }),
	line({ error: "a\n\u001b[2Jb\n" }),
];

test.each(hostile)("%j stays on its line and cannot control a terminal", (text) => {
	const parsed = parseLine("alpha", text, time);
	const json = toJson(parsed);
	expect(JSON.parse(json).program).toBe("alpha");
	// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
	const control = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202e]/;
	expect(json).not.toMatch(control);
	for (const one of toText(parsed).split("\n")) expect(one).not.toMatch(control);
});

test("what is not a line of our logs is an error with the line", () => {
	expect(parseLine("alpha", "Segmentation fault", time)).toEqual({
		program: "alpha",
		time,
		level: "error",
		message: "unexpected output of a program",
		fields: { text: "Segmentation fault" },
	});
	expect(unexpectedLine("alpha", line({}), time).level).toBe("error");
});

test("lines below the lowest level are not shown", () => {
	const info = parseLine("alpha", line({}), "");
	expect(isShown(info, "info")).toBe(true);
	expect(isShown(info, "warn")).toBe(false);
});

test("the last 200 lines of each program are kept, each cut", () => {
	const kept = new Map<string, string[]>();
	const line = (program: string, message: string) =>
		keepLine(kept, { program, time: "2026-01-02T03:04:05Z", level: "info", message, fields: {} });
	for (let number = 1; number <= 201; number++) line("alpha", `number ${number}.`);
	line("beta", "x".repeat(10_000));
	expect(kept.get("alpha")).toHaveLength(200);
	expect(kept.get("alpha")?.[0]).toContain("number 2.");
	expect(kept.get("beta")?.[0]).toHaveLength(2_000);
});
