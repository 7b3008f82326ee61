// What other people wrote, as data on one line.

import { escapeMarkdown } from "discord.js";

/** Control characters, line and paragraph separators, and what changes the direction of text. */
const unsafe =
	/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

const shortForms: Record<string, string> = {
	"\n": "\\n",
	"\r": "\\r",
	"\t": "\\t",
};

/** `text` with everything escaped that could end a line or forge another. */
export function oneLine(text: string): string {
	return text.replace(
		unsafe,
		(character) =>
			shortForms[character] ??
			`\\u{${character.codePointAt(0)?.toString(16).padStart(4, "0")}}`,
	);
}

/**
 * `text` as one field of a line whose fields are parted by "|", or as a name with an id behind it: it can neither end the
 * line nor pass for another field or for the id.
 */
export function oneField(text: string): string {
	return oneLine(text.replaceAll("\\", "\\\\"))
		.replaceAll("|", "\\|")
		.replace(/(?<=\bID\p{White_Space}*):(?=\p{White_Space}*\p{Nd})/giu, "\\:");
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
	const escaped = (part: string) =>
		escapeMarkdown(part, { maskedLink: true }).replaceAll("<", "\\<");
	const line = oneLine(text.toWellFormed());
	return escaped(fitted(line, max, (part) => escaped(part).length));
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
