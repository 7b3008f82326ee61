// Shows what others wrote: names and texts of people, bots and clients.

import { element } from "./dom.js";

/** Matches invisible characters, and characters that change the direction of the text after them. */
const invisible = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u{115f}\u{1160}\u{3164}\u{ffa0}]/gu;
const defaultLength = 120;

/** Untrusted text on one line, without invisible characters and cut to `max` characters. @param {unknown} text */
export function shown(text, max = defaultLength) {
	// Cutting by UTF-16 units first keeps this fast for long texts; `toWellFormed` repairs half a character.
	const characters = [...String(text).slice(0, 2 * max + 2)];
	const cut = characters.length > max;
	const kept = cut ? [...characters.slice(0, max), "…"] : characters;
	return kept
		.join("")
		.toWellFormed()
		.replaceAll(invisible, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`);
}

/** As an element whose writing direction does not affect the text around it. @param {unknown} text @param {number} [max] */
export function named(text, max) {
	return element("bdi", shown(text, max));
}

/** Of several lines. @param {string} text @param {number} max */
export function shownLines(text, max) {
	const lines = text.slice(0, max).split(/\r?\n/);
	const rest = text.length - max;
	const all = lines.map((line) => shown(line.replaceAll("\t", "    "), line.length));
	return rest > 0 ? `${all.join("\n")}\n… and ${rest} more characters` : all.join("\n");
}

/** @param {string} label @param {string} text @param {number} max */
export const preformatted = (label, text, max) =>
	element("pre", { tabindex: 0, "aria-label": label }, shownLines(text, max));
