import { expect, test } from "bun:test";
import { describeState } from "../../../../src/bot/moderation/cases/case-text.ts";

test.each([
	["done", undefined, undefined],
	["not done", undefined, "not done"],
	["not done", "Too late.", "not done: Too late."],
	["asked", undefined, "not confirmed yet"],
	["unknown", "The bot was stopped.", "outcome unknown"],
] as const)("the outcome %s, %p is shown as %p", (state, why, text) => {
	expect(describeState({ state, why })).toBe(text);
});
