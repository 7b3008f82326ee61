// Durations as people type them, and what autocompletion suggests for them.

import { inlineText } from "../../discord/text.ts";
import { readDuration } from "../../lib/times.ts";
import { SaidError } from "../../texts/said-error.ts";
import { allLanguages, type Said, said, sayIn, type TextKey } from "../../texts/texts.ts";
import type { ActionOption, Suggestion } from "./action.ts";

const units = [
	[604_800_000, "answer.weeks"],
	[86_400_000, "answer.days"],
	[3_600_000, "result.hours"],
	[60_000, "result.minutes"],
	[1_000, "result.seconds"],
] as const satisfies readonly (readonly [ms: number, key: TextKey])[];

const englishUnits: Readonly<Record<string, string>> = {
	std: "h",
	stunde: "h",
	tag: "d",
	minute: "m",
	sek: "s",
	sekunde: "s",
	woche: "w",
	monat: "mo",
};
const germanUnits = /(\d ?)(std|stunde|tag|minute|sek|sekunde|woche|monat)(?:en|n|e)?\b/g;

/** "30m", "1 day 12 hours" or "2 Stunden" as tools read it. Undefined for other text. */
function normalized(text: string): string | undefined {
	const lower = text.trim().toLowerCase();
	const english = lower.replace(germanUnits, (_, digit: string, word: string) => digit + (englishUnits[word] ?? ""));
	return /^\d/.test(english) && readDuration(english) !== undefined ? english : undefined;
}

/** The value for the tool: a duration, or one of the option's suggestions as any language says it. Or undefined. */
export function readDurationText(text: string, { suggestions = [] }: Pick<ActionOption, "suggestions">) {
	const typed = text.trim().toLowerCase();
	const isTyped = (one: string) => one === typed || allLanguages.some((each) => durationInWords(one, each) === typed);
	return suggestions.find(isTyped) ?? normalized(text);
}

const maxWords = 6;

/** How many of the words are one duration, such as 4 of "1 day 12 hours of rest". 0 if the first begins none. */
export function countDurationWords(words: readonly string[], option: Pick<ActionOption, "suggestions">): number {
	for (let count = Math.min(maxWords, words.length); count > 0; count -= 1) {
		const read = readDurationText(words.slice(0, count).join(" "), option);
		if (read !== undefined && (count === 1 || isDescending(read))) return count;
	}
	return 0;
}

// Otherwise "1d 2 days of spam" would be three days.
function isDescending(text: string): boolean {
	const sizes = [...text.matchAll(/\d+ ?([a-z]+)/g)].map(([, unit]) => readDuration(`1${unit}`) ?? 0);
	return sizes.every((size, index) => index === 0 || size < (sizes[index - 1] ?? 0));
}

/** The value for the tool. Throws a SaidError that shows the text, and how to write it. */
export function requireDuration(option: Pick<ActionOption, "suggestions" | "longestMs">, text: string): string {
	const { suggestions = [], longestMs = Infinity } = option;
	const read = readDurationText(text, option);
	const shown = inlineText(text, 50);
	const example = suggestions.find((one) => /^\d/.test(one)) ?? "10m";
	if (read === undefined) throw new SaidError(said("answer.not_a_duration", { text: shown, example }));
	const ms = readDuration(read) ?? 0;
	if (ms > longestMs)
		throw new SaidError(said("answer.duration_too_long", { text: shown, longest: inDaysOrHours(longestMs) }));
	return read;
}

function inDaysOrHours(ms: number): Said {
	const hours = ms / 3_600_000;
	return hours % 24 === 0 ? said("answer.days", { count: hours / 24 }) : said("result.hours", { count: hours });
}

function durationInWords(text: string, locale: string): string {
	const say = sayIn(locale);
	if (text === "forever") return say("answer.forever");
	if (text === "off") return say("answer.off");
	let left = readDuration(text) ?? 0;
	const parts: string[] = [];
	for (const [ms, key] of units) {
		const count = Math.floor(left / ms);
		if (count === 0) continue;
		left -= count * ms;
		parts.push(say(key, { count }));
	}
	return parts.join(" ") || text;
}

/** The text if it is a duration, a number with each unit, or the matching `suggestions`. */
export function suggestDurations(typed: string, suggestions: readonly string[], locale: string): Suggestion[] {
	const text = typed.trim().toLowerCase();
	const read = normalized(text);
	const values = /^\d{1,4}$/.test(text)
		? ["m", "h", "d", "w"].map((unit) => text + unit)
		: read !== undefined
			? [read]
			: suggestions.filter(
					(one) => one.startsWith(text) || durationInWords(one, locale).toLowerCase().startsWith(text),
				);
	return values.map((value) => ({ name: durationInWords(value, locale), value }));
}
