// What other people wrote, as data on one line.

import { escapeMarkdown } from "discord.js";
import { escapeUnseen, unicodeEscape } from "../../lib/text.ts";

const shortForms: Record<string, string> = {
	"\n": "\\n",
	"\r": "\\r",
	"\t": "\\t",
};

/** `text` with everything escaped that could end a line or forge another, and what nobody sees (`lib/text.ts`). */
export function oneLine(text: string): string {
	return escapeUnseen(
		text,
		(character) => shortForms[character] ?? unicodeEscape(character),
	);
}

/** `text` with what nobody sees escaped, on as many lines as it has. */
export function seenLines(text: string): string {
	return escapeUnseen(text, (character) =>
		/[\n\t]/.test(character) ? character : unicodeEscape(character),
	);
}

/** What looks like "|": "｜" everywhere, and other strokes where they stand apart, as our own do: many names have one. */
const stroke = String.raw`[\u01c0\u05c0\u2223\u23d0\u23fd\u2502\u2503\u2758\u2759\ufe31\uffe8]`;
const bars = new RegExp(
	String.raw`[|\uff5c]|(?<=^|\s)${stroke}|${stroke}(?=\s|$)`,
	"gu",
);

/** What looks like ":", in front of a number. */
const colons =
	/[:\u02d0\u02f8\u05c3\u2236\ua789\ufe13\ufe30\ufe55\uff1a](?=\p{White_Space}*\p{Nd})/gu;

/** Whether a text ends in "ID", or in what looks like it: NFKC knows all but the letters of other scripts. */
function endsInId(text: string): boolean {
	const end = text.trimEnd().slice(-8);
	if (/\bID$/i.test(end)) return true;
	const plain = end
		.normalize("NFKC")
		.replace(/[\u0406\u0456\u04c0\u04cf\u0399\u03b9\u0131]/g, "I")
		.replaceAll("\u{1f194}", " ID");
	return /\bID$/i.test(plain);
}

/** What has a short escape, has that; what only looks like it, is shown as what it is. */
function escaped(character: string): string {
	return /[|:]/.test(character) ? `\\${character}` : unicodeEscape(character);
}

/**
 * `text` as one field of a line whose fields are parted by "|", or as a name with an id behind it: it can neither end the
 * line nor pass for another field or for the id.
 */
export function oneField(text: string): string {
	// Most texts, at the cost of one look.
	if (!/[^ -9;-[\]-{}~]/.test(text)) return text;
	return oneLine(text.replaceAll("\\", "\\\\"))
		.replace(bars, escaped)
		.replace(colons, (colon, at: number, whole: string) =>
			endsInId(whole.slice(0, at)) ? escaped(colon) : colon,
		);
}

/** `text` without the tokens of webhooks: the URL of one is all that anybody needs to write by it. */
export function withoutTokens(text: string): string {
	return text.replace(/(webhooks\/\d+\/)[\w-]+/gi, "$1[hidden]");
}

/**
 * `text` if its `length` is at most `max`, and else as much of its beginning as fits with "…" behind it. No character is
 * cut in two.
 */
export function fitted(
	text: string,
	max: number,
	length: (text: string) => number = ({ length }) => length,
): string {
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

/** What Discord takes as a reason for its audit log, in characters after URL-encoding. */
export const maxReasonLength = 512;

export function encodedLength(text: string): number {
	return encodeURIComponent(text).length;
}

/** `text` as a reason for Discord's audit log: one line, as much of it as Discord takes. */
export function auditReason(text: string): string {
	return fitted(oneLine(text.toWellFormed()), maxReasonLength, encodedLength);
}

/** `text` as people may read it among words of ours: on one line, with no mark-up and no mention, at most `max` long. */
export function shown(text: string, max: number): string {
	const marked = (part: string) =>
		escapeMarkdown(part, { maskedLink: true }).replaceAll("<", "\\<");
	const line = oneLine(text.toWellFormed());
	return marked(fitted(line, max, (part) => marked(part).length));
}

const unstroked: Record<string, string> = {
	...{ ł: "l", ø: "o", đ: "d", ħ: "h" },
	...{ Ł: "L", Ø: "O", Đ: "D", Ħ: "H" },
};

/** `text` without case and accents, for comparing names: "Zoë" and "ZOE" fold to the same. */
export function fold(text: string): string {
	// Accents only: a mark can also be what makes a letter another one, as in か and が.
	const bare = text
		.normalize("NFKD")
		.replace(/[\u0300-\u036f]/gu, "")
		// A stroke through a letter is no accent to Unicode.
		.replace(/[łøđħŁØĐĦ]/g, (letter) => unstroked[letter] ?? letter);
	// Capitals last: there is one of each letter, where small ones have several, as "ß" and "ss", or "σ" and "ς".
	return bare.toLowerCase().toUpperCase();
}
