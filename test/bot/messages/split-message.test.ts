// Texts of any length, in pieces that Discord takes.

import { expect, test } from "bun:test";
import { splitMessage } from "../../../src/bot/messages/split-message.ts";
import { seeded } from "../../support/random.ts";

test("a text that fits is one piece, as it is", () => {
	for (const text of ["", "a", " a ", "x".repeat(2000)]) expect(splitMessage(text)).toEqual([text]);
});

test.each([
	["one word", "x".repeat(5000)],
	["words", "some words, and a comma. ".repeat(300)],
	["lines", "line\n".repeat(1500)],
	["emoji", "👩‍👩‍👧‍👦".repeat(700)],
	["an emoji across the limit", `${"x".repeat(1999)}👍${"y".repeat(100)}`],
	["white space alone", " ".repeat(4100)],
	["a gap across the limit", `a${" ".repeat(2500)}b`],
	["2,001 characters", "x".repeat(2001)],
	["half of an emoji", `${"x".repeat(1999)}\ud83d${"y".repeat(100)}`],
])("%s: the pieces fit, and together they are the text", (_, text) => {
	const pieces = splitMessage(text);
	expect(pieces.join("")).toBe(text);
	expect(pieces.length).toBeGreaterThan(1);
	for (const piece of pieces) {
		expect(piece.length).toBeGreaterThan(0);
		expect(piece.length).toBeLessThanOrEqual(2000);
	}
});

test("a character is never cut in two", () => {
	for (let shift = 0; shift < 4; shift++)
		for (const piece of splitMessage("x".repeat(shift) + "👍".repeat(2500))) expect(piece.isWellFormed()).toBe(true);
});

test("where there are words near, no piece begins or ends with white space: Discord would take it away", () => {
	const text = `${"word and\n\tword   ".repeat(400)}end`;
	for (const piece of splitMessage(text)) expect(piece.trim()).toBe(piece);
});

test("any text is the sum of its pieces", () => {
	const random = seeded(7);
	const alphabet = ["a", " ", "\n", "👍", "`", "@", "é", "\u200d"];
	for (let round = 0; round < 200; round++) {
		const text = Array.from({ length: random.below(6000) }, () => random.pick(alphabet)).join("");
		const pieces = splitMessage(text);
		expect(pieces.join("")).toBe(text);
		expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThanOrEqual(2000);
	}
});
