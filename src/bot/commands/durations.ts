// Durations as people type them, and what autocompletion suggests for them.

import { readDuration } from "../tool/arguments/times.ts";
import type { Suggestion } from "./action.ts";

const units: readonly (readonly [ms: number, name: string, short: string])[] = [
	[604_800_000, "week", "w"],
	[86_400_000, "day", "d"],
	[3_600_000, "hour", "h"],
	[60_000, "minute", "m"],
	[1_000, "second", "s"],
];

/** "30m", "1d12h", or one of `suggestions`, such as "forever". */
export function isDurationWord(word: string, suggestions: readonly string[] = []): boolean {
	if (suggestions.includes(word.toLowerCase())) return true;
	return /^\d/.test(word) && readDuration(word) !== undefined;
}

function durationInWords(text: string): string {
	let left = readDuration(text) ?? 0;
	const parts: string[] = [];
	for (const [ms, name] of units) {
		const count = Math.floor(left / ms);
		if (count === 0) continue;
		left -= count * ms;
		parts.push(`${count} ${name}${count === 1 ? "" : "s"}`);
	}
	return parts.join(" ") || text;
}

/** The text if it is a duration, a number with each unit, or the matching `suggestions`. */
export function suggestDurations(typed: string, suggestions: readonly string[]): Suggestion[] {
	const text = typed.trim().toLowerCase();
	const values = /^\d{1,4}$/.test(text)
		? ["m", "h", "d", "w"].map((unit) => text + unit)
		: isDurationWord(text)
			? [text]
			: suggestions.filter((one) => one.startsWith(text));
	return values.map((value) => ({ name: durationInWords(value), value }));
}
