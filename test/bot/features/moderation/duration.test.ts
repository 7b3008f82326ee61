import { expect, test } from "bun:test";
import { readDuration } from "../../../../src/bot/features/moderation/duration.ts";

test.each<[string, number | null | undefined]>([
	["1m", 60_000],
	["30m", 1_800_000],
	["12h", 43_200_000],
	["3D", 259_200_000],
	["2w", 1_209_600_000],
	["1d12h", 129_600_000],
	["1830d", 158_112_000_000],
	["1831d", undefined],
	["Forever", null],
	["", undefined],
	["0d", undefined],
	["3", undefined],
	["3 d", undefined],
	["3y", undefined],
	["-3d", undefined],
	["3.5d", undefined],
	["3days", undefined],
	["99999999m", undefined],
	["٣d", undefined],
])("%j is %p milliseconds", (text, ms) => {
	expect(readDuration(text)).toBe(ms);
});
