// Rules of the setting `moderation.escalate`: what is understood, and the error for each mistake.

import { expect, test } from "bun:test";
import { readRule } from "../../../src/bot/config/escalation.ts";
import { read } from "../../../src/bot/settings/guild-settings.ts";

const dayMs = 86_400_000;

test.each<[string, unknown]>([
	[
		"3 warnings in 30d: timeout 1d",
		{
			text: "3 warnings in 30d: timeout 1d",
			count: 3,
			actions: ["warn"],
			windowMs: 30 * dayMs,
			action: "timeout",
			durationMs: dayMs,
		},
	],
	[
		"  1  Warning  in 2W :KICK ",
		{
			text: "1 warning in 2w: kick",
			count: 1,
			actions: ["warn"],
			windowMs: 14 * dayMs,
			action: "kick",
			durationMs: undefined,
		},
	],
	[
		"2 bans in 365d: ban",
		{
			text: "2 bans in 365d: ban",
			count: 2,
			actions: ["ban", "temp_ban"],
			windowMs: 365 * dayMs,
			action: "ban",
			durationMs: undefined,
		},
	],
	["", "expected a rule such as"],
	["three warnings in 30d: kick", "expected a rule such as"],
	["3 warnings in 30d", "expected a rule such as"],
	["3 warnings in 30d: ", "expected a rule such as"],
	["0 warnings in 30d: kick", "expected a number from 1 to 100"],
	["101 warnings in 30d: kick", "expected a number from 1 to 100"],
	["3 notes in 30d: kick", 'expected "warnings", "timeouts", "kicks" or "bans"'],
	["3 constructors in 30d: kick", 'expected "warnings"'],
	["3 warnings in 30: kick", 'after "in" (units m, h, d, w), received "30"'],
	["3 warnings in 0d: kick", 'after "in"'],
	["3 warnings in 9999d: kick", "at most 5 years"],
	["3 warnings in 30d: kick 1d", 'expected nothing after "kick"'],
	["3 warnings in 30d: timeout", "at most 28 days"],
	["3 warnings in 30d: timeout 29d", "at most 28 days"],
	["3 warnings in 30d: ban 0d", "at most 5 years"],
	["3 warnings in 30d: mute 1d", 'expected "timeout", "kick" or "ban"'],
])("%p", (text, expected) => {
	const rule = readRule(text);
	if (typeof expected === "string") expect(String(rule)).toContain(expected);
	else expect(rule).toEqual(expected as never);
});

test("a mistake in a rule names the key and the rule", () => {
	const [problem] = read({ "moderation.escalate": ["3 warnings in 30d: kick", "3 warnings in 30d: mute"] }).problems;
	expect(problem?.key).toBe("moderation.escalate");
	expect(problem?.message).toMatch(/^1: .*received "mute", in "3 warnings in 30d: mute"$/);
});
