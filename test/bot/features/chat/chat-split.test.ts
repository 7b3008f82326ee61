// Where a growing text is split into messages, and code blocks across messages.

import { describe, expect, test } from "bun:test";
import { isCodeOpen, splitAnswer } from "../../../../src/bot/features/chat/chat-split.ts";

const whole = (text: string) =>
	splitAnswer(text)
		.map(({ from, to }) => text.slice(from, to))
		.join("");

const words = (count: number) => Array.from({ length: count }, (_, index) => `word${index}`).join(" ");

const code = (lines: number) => Array.from({ length: lines }, (_, index) => `let x${index} = ${index};`).join("\n");

const texts: Record<string, string> = {
	words: words(1_500),
	paragraphs: Array.from({ length: 60 }, () => words(20)).join("\n\n"),
	"one long word": "x".repeat(9_000),
	families: "👨‍👩‍👧‍👦".repeat(900),
	flags: "🇩🇪".repeat(1_500),
	"shifted flags": `x${"🇩🇪".repeat(1_500)}`,
	code: `Look:\n\`\`\`ts\n${code(400)}\n\`\`\`\nThat is all.`,
	backticks: "`".repeat(5_000),
	"white space": " \n".repeat(3_000),
	"many blocks": Array.from({ length: 200 }, (_, index) => `\`\`\`js\nf(${index})\n\`\`\`\nand then`).join("\n"),
};

describe.each(Object.entries(texts))("%s", (_, text) => {
	test("fit into messages without loss", () => {
		const parts = splitAnswer(text);
		expect(parts.length).toBeGreaterThan(1);
		for (const { content } of parts) expect(content.length).toBeLessThanOrEqual(2_000);
		expect(whole(text)).toBe(text);
	});

	test("keep their cuts when text is appended", () => {
		const last = splitAnswer(text);
		for (let length = 0; length < text.length; length += 61) {
			const parts = splitAnswer(text.slice(0, length));
			expect(parts.slice(0, -1)).toEqual(last.slice(0, parts.length - 1));
		}
	});

	test("are never cut within a surrogate pair", () => {
		for (const { from, to } of splitAnswer(text)) expect(text.slice(from, to).isWellFormed()).toBe(true);
	});
});

test("an unfinished code block fits into messages at every length", () => {
	for (let length = 1_900; length < 4_000; length += length < 2_010 ? 1 : 13)
		for (const start of ["```py\n", "a\n```\n"]) {
			const text = start.padEnd(length, "x");
			for (const { content } of splitAnswer(text)) expect(content.length).toBeLessThanOrEqual(2_000);
			expect(whole(text)).toBe(text);
		}
});

test("a short text is one unchanged message", () => {
	expect(splitAnswer("Hello *you*")).toEqual([{ from: 0, to: 11, content: "Hello *you*" }]);
});

test.each([
	["👨‍👩‍👧‍👦", /^(👨‍👩‍👧‍👦)+$/u],
	["🇩🇪", /^(🇩🇪)+$/u],
])("messages hold whole %s", (emoji, only) => {
	for (let shift = 0; shift < 12; shift++) {
		const before = "x".repeat(shift);
		const parts = splitAnswer(before + emoji.repeat(2_000));
		for (const { content } of parts) expect(content.replace(/^x+/, "")).toMatch(only);
	}
});

test("a code block across messages is closed and reopened with its language", () => {
	const parts = splitAnswer(`Look:\n\`\`\`ts\n${code(400)}\n\`\`\`\nEnd.`);
	const shown = parts.map(({ content }) => content);
	expect(shown[0]).toStartWith("Look:\n```ts\nlet x0 = 0;\n");
	expect(shown[0]).toEndWith(";\n```");
	for (const one of shown.slice(1)) expect(one).toStartWith("```ts\nlet x");
	expect(shown.at(-1)).toEndWith(";\n```\nEnd.");
	for (const one of shown) expect(isCodeOpen(one)).toBe(false);
});

test("the opening line of a code block is not split from its code", () => {
	const parts = splitAnswer(`${"x".repeat(1_900)}\n\`\`\`py\n${"y".repeat(1_000)}\n\`\`\``);
	expect(parts[0]?.content).toBe("x".repeat(1_900));
	expect(parts[1]?.content).toStartWith("```py\nyyy");
});

test("an unfinished code block is closed", () => {
	const [part] = splitAnswer("```py\nprint(1)");
	expect(part?.content).toBe("```py\nprint(1)\n```");
});

test("cuts prefer paragraphs to lines, and lines to words", () => {
	const first = (text: string) => splitAnswer(text)[0]?.content;
	const long = words(250).slice(0, 1_500);
	expect(first(`${long}\n\nnext\nline ${words(500)}`)).toBe(long);
	expect(first(`${long}\nnext line ${words(500)}`)).toBe(long);
	expect(first(words(900))).toMatch(/ word\d+$/);
});
