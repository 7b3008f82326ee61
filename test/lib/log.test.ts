import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import { parseSettings } from "../../src/lib/config.ts";
import { createLog, defaultLogOptions, type Fields, logSettings, readLogOptions } from "../../src/lib/log.ts";
import { recordLog } from "../support/log.ts";

function write(format: "text" | "json", message: string, fields?: Fields) {
	const lines: string[] = [];
	const options = { format, level: "info" } as const;
	createLog(options, (line) => lines.push(line)).warn(message, fields);
	expect(lines).toHaveLength(1);
	return lines[0] ?? "";
}

const unseen = /[\p{Cc}\p{Cf}\p{DI}\p{Zl}\p{Zp}]/u;

const hostile = [
	"two\nlines",
	"two\r\nlines",
	"back\rto the start",
	"\u001b[2J\u001b]0;title\u0007cleared",
	"\u009b2Jcleared",
	"a\u2028b\u2029c\u0085d\u000be\u000cf",
	'quote " and \\',
	"\ud800 alone",
	"\u{e0049}\u200b\u00ad\u3164\u202ehidden\u{e0100}",
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
		expect(line).not.toMatch(unseen);
		// A lone surrogate has no UTF-8; everything else is kept.
		expect(JSON.parse(line)).toMatchObject({ message: text, text });
	});

	test("an error comes with its stack and its causes", () => {
		const cause = new RangeError("the root", { cause: new Error("of it all") });
		const line = JSON.parse(write("json", "failed", { error: new TypeError("outer", { cause }) }));
		expect(line.error).toMatch(
			/^TypeError: outer\n {4}at [\s\S]+\ncaused by: RangeError: the root\n {4}at [\s\S]+\ncaused by: Error: of it all/,
		);
	});
});

describe("as text", () => {
	test("emoji stay as they are", () => {
		expect(write("text", "👩‍👩‍👧 ❤️", { a: "🏴‍☠️" })).toEndWith('👩‍👩‍👧 ❤️ a="🏴‍☠️"');
	});

	test("a line has time of day, level, message and the fields", () => {
		expect(write("text", "hello", { a: 1, b: "x y" })).toMatch(/^\d\d:\d\d:\d\d WARN {2}hello a=1 b="x y"$/);
	});

	test.each(hostile)("%j is one line without control characters", (text) => {
		expect(write("text", text, { text })).not.toMatch(unseen);
	});

	test("an error comes with its stack and its causes", () => {
		const error = new Error("outer", { cause: new Error("inner") });
		expect(write("text", "failed", { error })).toMatch(
			/ failed\nError: outer\n {4}at [\s\S]+\ncaused by: Error: inner\n/,
		);
	});
});

describe.each(["text", "json"] as const)("as %s", (format) => {
	test("an undefined field is left out", () => {
		const line = write(format, "hello", { a: undefined, b: null });
		expect(line).not.toContain("undefined");
		expect(line).toContain("null");
	});
});

const levels = ["debug", "info", "warn", "error"] as const;

test.each(levels)("at level %s that is the least that is written", (level) => {
	const { log, lines } = recordLog(level);
	for (const each of levels) log[each]("hello");
	expect(lines.map((line) => JSON.parse(line).level)).toEqual(levels.slice(levels.indexOf(level)));
});

describe("settings", () => {
	const schema = v.object(logSettings);
	const read = (settings: Record<string, string>) => readLogOptions(v.parse(schema, settings));

	test("what is said counts", () => {
		expect(read({ LOG_FORMAT: "text", LOG_LEVEL: "error" })).toEqual({ format: "text", level: "error" });
	});

	test("without any, it is info and above, as the terminal or its absence asks", () => {
		expect(read({})).toEqual({ format: process.stdout.isTTY ? "text" : "json", level: "info" });
		expect(defaultLogOptions()).toEqual(read({}));
	});

	test.each([{ LOG_FORMAT: "xml" }, { LOG_FORMAT: "" }, { LOG_LEVEL: "loud" }, { LOG_LEVEL: "INFO" }])(
		"%j is an issue that names the choices",
		(settings) => {
			const { issues } = parseSettings(schema, settings);
			expect(issues).toHaveLength(1);
			expect(issues[0]).toMatch(
				/^LOG_FORMAT: expected \("text" \| "json"\), received ".*"$|^LOG_LEVEL: expected \("debug" \| "info" \| "warn" \| "error"\), received ("loud"|"INFO"; did you mean info\?)$/,
			);
		},
	);
});
