// Escaping of user content for tool results, messages and audit log reasons.

import { escapeMarkdown } from "discord.js";
import { escapeUnseen, unicodeEscape } from "../lib/text.ts";

const shortForms: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** With control and invisible characters escaped. */
export function oneLine(text: string): string {
	return escapeUnseen(text, (character) => shortForms[character] ?? unicodeEscape(character));
}

/** Keeps line breaks and tabs. */
export function escapeInvisible(text: string): string {
	return escapeUnseen(text, (character) => (/[\n\t]/.test(character) ? character : unicodeEscape(character)));
}

/** For people: line breaks, with the white space around them, become a space. */
export function joinLines(text: string): string {
	return text.replace(/\s*[\n\v\f\r\x85\u2028\u2029]\s*/g, " ").trim();
}

const stroke = String.raw`[\u01c0\u05c0\u2223\u23d0\u23fd\u2502\u2503\u2758\u2759\ufe31\uffe8]`;
const bars = new RegExp(String.raw`[|\uff5c]|(?<=^|\s)${stroke}|${stroke}(?=\s|$)`, "gu");

const colons = /[:\u02d0\u02f8\u05c3\u2236\ua789\ufe13\ufe30\ufe55\uff1a](?=\p{White_Space}*\p{Nd})/gu;

function endsInId(text: string): boolean {
	const end = text.trimEnd().slice(-8);
	if (/\bID$/i.test(end)) return true;
	const plain = end
		.normalize("NFKC")
		.replace(/[\u0406\u0456\u04c0\u04cf\u0399\u03b9\u0131]/g, "I")
		.replaceAll("\u{1f194}", " ID");
	return /\bID$/i.test(plain);
}

function escaped(character: string): string {
	return /[|:]/.test(character) ? `\\${character}` : unicodeEscape(character);
}

/**
 * For fields separated by "|", or before "(ID: …)": the text can neither end the line nor imitate another field or an
 * id.
 */
export function oneField(text: string): string {
	// Fast path for most texts.
	if (!/[^ -9;-[\]-{}~]/.test(text)) return text;
	return oneLine(text.replaceAll("\\", "\\\\"))
		.replace(bars, escaped)
		.replace(colons, (colon, at: number, whole: string) => (endsInId(whole.slice(0, at)) ? escaped(colon) : colon));
}

type Optional = string | false | null | undefined;

const isPresent = (text: Optional): text is string => Boolean(text);

/** Separated by "|". Absent and empty fields are left out. */
export function fieldLine(...fields: readonly Optional[]): string {
	return fields.filter(isPresent).join(" | ");
}

/** As one list. Absent and empty lines are left out. */
export function resultLines(...lines: readonly (Optional | readonly Optional[])[]): string[] {
	return lines.flat().filter(isPresent);
}

/** Also in escaped Markdown. Anybody with a webhook's URL can post messages. */
export function withoutTokens(text: string): string {
	return text.replace(/(webhooks\/\d+\/)(?:[\w-]|\\_)+/gi, "$1[hidden]");
}

/** With "…" at the end. Does not split surrogate pairs. */
export function truncate(text: string, max: number, length: (text: string) => number = ({ length }) => length): string {
	if (length(text) <= max) return text;
	const characters = [...text];
	const cut = (count: number) => `${characters.slice(0, count).join("")}…`;
	let fits = 0;
	for (let over = characters.length; over - fits > 1; ) {
		const middle = (fits + over) >> 1;
		if (length(cut(middle)) <= max) fits = middle;
		else over = middle;
	}
	return cut(fits);
}

/** As Discord counts: code points. */
export function lengthOf(text: string): number {
	return [...text].length;
}

/**
 * In code points (a guess) before URL encoding, as twilight-validate and serenity count.
 * https://docs.discord.com/developers/resources/audit-log#audit-log-entry-object
 */
export const maxReasonLength = 512;

/** By this the bot recognizes changes of apply_guild jobs. */
export const jobReasonStart = "guild document ";

/** Not to be mistaken for the reason of an apply_guild job. */
export function chosenReason(text: string): string {
	return auditReason(text).toLowerCase().startsWith(jobReasonStart) ? auditReason(`reason: ${text}`) : text;
}

/** One line, truncated to Discord's limit. */
export function auditReason(text: string): string {
	return truncate(oneLine(joinLines(text.toWellFormed())), maxReasonLength, lengthOf);
}

/** Adds who made a tool call, such as "for Hanna, by Claude". Truncates `text` to Discord's limit. */
export function withCaller(text: string, caller: string): string {
	const suffix = ` (${truncate(oneLine(caller.toWellFormed()), maxCallerLength, lengthOf)})`;
	const max = maxReasonLength - lengthOf(suffix);
	return truncate(oneLine(joinLines(text.toWellFormed())), max, lengthOf) + suffix;
}

const maxCallerLength = 200;

/** For a message: one line, at most `max` characters, with Markdown and mentions escaped. */
export function inlineText(text: string, max: number): string {
	const escapePart = (part: string) => escapeMarkdown(part, { maskedLink: true }).replaceAll("<", "\\<");
	return escapePart(truncate(oneLine(joinLines(text.toWellFormed())), max, (part) => escapePart(part).length));
}

const maxNameLength = 200;

/** A name that others chose, for a message; `unknown` without a letter or digit. */
export function nameText(name: string, unknown: string): string {
	const text = inlineText(name.slice(0, maxNameLength), 2 * maxNameLength);
	return /[\p{L}\p{N}]/u.test(text) ? text : unknown;
}

const withoutStroke: Record<string, string> = { Ł: "L", Ø: "O", Đ: "D", Ħ: "H" };

/** "5,012". */
export function thousands(count: number): string {
	return count.toLocaleString("en-US");
}

/** "1 member", "5,012 members". */
export function countOf(count: number, noun: string): string {
	return `${thousands(count)} ${noun}${count === 1 ? "" : noun.endsWith("ch") ? "es" : "s"}`;
}

function isAscii(text: string): boolean {
	for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0x7f) return false;
	return true;
}

/** A filter by parts of names, in any case and with any accents; undefined: all. `words`: after what was searched. */
export function namedLike(parts: readonly string[] | undefined) {
	const folded = parts?.map(fold);
	return {
		matches: ({ name }: { name?: string | null }) => folded?.some((part) => fold(name ?? "").includes(part)) ?? true,
		words: parts ? ` with ${parts.map((part) => `"${oneField(part)}"`).join(" or ")} in the name` : "",
	};
}

/** Without case and accents: "Zoë" and "ZOE" become the same text. */
export function fold(text: string): string {
	if (isAscii(text)) return text.toUpperCase();
	// Only Latin accents: other marks can distinguish letters, such as か and が.
	const unaccented = text.normalize("NFKD").replace(/[\u0300-\u036f]/gu, "");
	// Upper case last: it unifies more, such as "ß" and "ss", or "σ" and "ς".
	const upper = unaccented.toLowerCase().toUpperCase();
	// Unicode does not decompose letters with a stroke.
	return upper.replace(/[ŁØĐĦ]/g, (letter) => withoutStroke[letter] ?? letter);
}
