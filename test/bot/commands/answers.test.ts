// What people read of actions: questions, durations, and long answers.

import { expect, test } from "bun:test";
import type { Action } from "../../../src/bot/commands/action.ts";
import { answerPieces } from "../../../src/bot/commands/answer.ts";
import { readCommand } from "../../../src/bot/commands/commands.ts";
import { countDurationWords, readDurationText } from "../../../src/bot/commands/durations.ts";
import { createPerform } from "../../../src/bot/commands/perform.ts";
import { toToolCall } from "../../../src/bot/commands/tool-call.ts";

const action: Action = {
	name: "timeout",
	tool: "timeout",
	options: [
		{ name: "within", kind: "duration", argument: "after", suggestions: ["off", "5m"], longestMs: 28 * 86_400_000 },
	],
};
const place = { channelId: "1", at: 0, isThread: () => false };

test("durations need units, and are not too long", () => {
	const argsOf = (text: string) => toToolCall(action, new Map([["within", [text]]]), place).args;
	expect(argsOf("1d12h")).toEqual({ after: "1d12h" });
	expect(argsOf("off")).toEqual({ after: "off" });
	expect(argsOf("28d")).toEqual({ after: "28d" });
	expect(() => argsOf("60d")).toThrow("“60d” is too long: at most 28 days. Nothing was done.");
	for (const text of ["10", "", "soon", "1x"]) expect(() => argsOf(text)).toThrow("such as 5m");
});

test.each<[string, string | undefined]>([
	["10m", "10m"],
	["10 Minutes", "10 minutes"],
	["1 day 12 hours", "1 day 12 hours"],
	["2 Stunden", "2 h"],
	["1 Woche 3 Tage", "1 w 3 d"],
	["90 min", "90 min"],
	["Off", "off"],
	["aus", "off"],
	["Für immer", undefined],
	["10", undefined],
	["minutes", undefined],
	["10 minits", undefined],
])("%j is the duration %j", (text, value) => {
	expect(readDurationText(text, { suggestions: ["off"] })).toBe(value);
});

test.each<[string, number]>([
	["10m spam", 1],
	["10 minutes of rest", 2],
	["1 day 12 hours of rest", 4],
	["1h 30m", 2],
	["1d 2 days of spam", 1],
	["forever and ever", 1],
	["für immer und ewig", 2],
	["10 people", 0],
	["spam 10m", 0],
	["", 0],
])("of %j, %d words are the duration", (text, count) => {
	expect(countDurationWords(text.split(" "), { suggestions: ["forever"] })).toBe(count);
});

const perform = (
	result: { text: string; isError: boolean; asks?: boolean },
	asks: boolean,
): Promise<{ answer: { text: string; question?: string } }> => {
	const callAs: Parameters<typeof createPerform>[0] = async () => ({ ...result, wrote: false });
	return createPerform(callAs).perform({ ...action, confirm: () => asks }, new Map([["within", ["1h"]]]), {
		...place,
		guildId: "1",
		person: { id: "1", name: "Ada" },
		command: "/timeout",
		locale: "en-US",
	});
};

test("an error names the option, and never looks like a success", async () => {
	for (const asks of [false, true]) {
		const wrong = { text: "after: expected a time", isError: true };
		expect((await perform(wrong, asks)).answer.text).toBe("within: expected a time");
		const empty = await perform({ text: "", isError: true }, asks);
		expect(empty.answer.text).not.toBe("Done.");
		expect(empty.answer.text).not.toBe("");
	}
});

test("a question has buttons only if something would be done", async () => {
	const asked = await perform({ text: "Ban Zoe?", isError: false, asks: true }, true);
	expect(asked.answer).toEqual({ text: "Ban Zoe?\nNothing has been done yet.", question: expect.any(String) });
	const nothing = await perform({ text: "No message matches: nothing to delete.", isError: false }, true);
	expect(nothing.answer).toEqual({ text: "No message matches: nothing to delete." });
});

test("long answers are split between lines", () => {
	const lines = Array.from({ length: 12 }, (_, index) => `${index} `.padEnd(600, "word "));
	const pieces = answerPieces(lines.join("\n"), "en-US");
	expect(pieces.flatMap((piece) => piece.split("\n"))).toEqual(lines.map((line) => line));
	const long = answerPieces(`short\n${"x".repeat(5_000)}\nend`, "en-US");
	expect(long[0]).toBe("short");
	expect(long.join("").replace(/\n/g, "")).toBe(`short${"x".repeat(5_000)}end`);
	for (const piece of [...pieces, ...long]) expect(piece.length).toBeLessThanOrEqual(2_000);
});

test("the prefix alone asks for help", () => {
	expect(readCommand("!m", "!m ")).toEqual({ name: "help", rest: "" });
	expect(readCommand("!m", "!m")).toEqual({ name: "help", rest: "" });
	expect(readCommand("!m", "!mm")).toBeUndefined();
	expect(readCommand("!", "!")).toBeUndefined();
});
