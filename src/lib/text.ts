// Foreign words in lines of our own: log lines, errors, lists. What cannot be seen in them is shown as an escape, so that
// nobody hides an instruction in a name: tag characters, zero-width characters, fillers, variation selectors and all else
// that Unicode calls a format character or ignorable (https://www.unicode.org/reports/tr44/#Default_Ignorable_Code_Point).

/** Control characters, and line and paragraph separators: what would end a line, or command a terminal. */
const breaking = /[\p{Cc}\p{Zl}\p{Zp}]/gu;

/** Format characters that are drawn, such as the end of an ayah (Prepended_Concatenation_Mark in UAX #44). */
const drawn = String.raw`[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]`;

/** What nobody sees, what changes the direction of text, and what is no character. */
const unseen = String.raw`(?!${drawn})[\p{Cf}\p{DI}\p{Cs}\p{NChar}]`;

/**
 * Emoji as people write them (https://www.unicode.org/reports/tr51/): one, with a selector or a skin tone, or several joined.
 * Of flags made of tags only the three there are: any others could spell a sentence.
 */
const onePicture = String.raw`\p{ExtPict}(?:\p{EMod}\ufe0f?|[\ufe0e\ufe0f]\p{EMod}?)?`;
const flags = ["gbeng", "gbsct", "gbwls"].map((code) => {
	const tags = Array.from(code, (letter) => 0xe0000 + letter.charCodeAt(0));
	return `\u{1f3f4}${String.fromCodePoint(...tags, 0xe007f)}`;
});
const emoji = String.raw`${flags.join("|")}|[0-9#*]\ufe0f\u20e3|${onePicture}(?:\u200d${onePicture})*`;

/**
 * One joiner, or non-joiner, behind a letter of a script that is written with them, such as Persian and Hindi. Between two
 * letters there is one at most: that can hide nothing that reads as words.
 */
const scripts = [
	"Arab",
	"Syrc",
	"Nkoo",
	"Deva",
	"Beng",
	"Guru",
	"Gujr",
	"Orya",
];
const moreScripts = ["Taml", "Telu", "Knda", "Mlym", "Sinh", "Mymr", "Mong"];
/** Scripts without spaces between words: where one ends, a space without width may say so. */
const unspaced = ["Khmr", "Laoo", "Mymr", "Thai"];
const after = (names: readonly string[]) =>
	`(?<=[${names.map((name) => `\\p{sc=${name}}`).join("")}])`;
const joined = after([...scripts, ...moreScripts]);
const joiner = String.raw`(?:${joined}[\u200c\u200d]|${after(unspaced)}\u200b(?=\p{L}))(?!${unseen})`;

const seenOrNot = new RegExp(
	`${emoji}|${joiner}|((?:${unseen})+)|(${breaking.source})`,
	"gu",
);

const unseenOrBreaking = new RegExp(`${unseen}|${breaking.source}`, "u");

/** Whether there is nothing to look for: so it is with most texts, and one look is cheap. */
function isSeen(text: string): boolean {
	return !/[^ -~]/.test(text) || !unseenOrBreaking.test(text);
}

/** How many of one run are written out: 4,000 characters that nobody sees are not to fill a page. */
const maxRun = 32;

/**
 * A text with what nobody sees in it, and what would end its line, as `write` writes it. Emoji, and scripts that need
 * joiners, stay as they are.
 */
export function escapeUnseen(
	text: string,
	write: (character: string) => string = unicodeEscape,
): string {
	if (isSeen(text)) return text;
	return text.replace(seenOrNot, (seen, run?: string, end?: string) => {
		if (end !== undefined) return write(end);
		if (run === undefined) return seen;
		const characters = [...run];
		const more = characters.length - maxRun;
		const written = characters.slice(0, maxRun).map(write).join("");
		return more > 0 ? `${written}\\u{…${more} more}` : written;
	});
}

/** Such as `\u{200b}`. */
export function unicodeEscape(character: string): string {
	return `\\u{${character.codePointAt(0)?.toString(16).padStart(4, "0")}}`;
}

/** At most `maxLength` of a text, on one line. */
export function onOneLine(text: string, maxLength: number): string {
	return escapeUnseen(text.slice(0, maxLength).replace(breaking, " "));
}

/** A text with what would end its line, and what nobody sees, written as an escape. */
export function escapeBreaks(text: string): string {
	return escapeUnseen(text, (character) =>
		character === "\n" ? "\\n" : unicodeEscape(character),
	);
}

/** JSON with what nobody sees in its texts written as its own escapes: it stands for the same value. */
export function escapeInJson(json: string): string {
	if (isSeen(json)) return json;
	return json.replace(seenOrNot, (seen, run?: string, end?: string) => {
		const hidden = run ?? end;
		if (hidden === undefined) return seen;
		return hidden
			.split("")
			.map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
			.join("");
	});
}

/** At most 100 characters of a text, in quotation marks, with what would end its line written as an escape. */
export function quoted(text: string): string {
	return escapeInJson(JSON.stringify(text.slice(0, 100)));
}

/** A name that someone made up: as it is if it looks like one, else in quotation marks. */
export function shownName(name: string): string {
	return /^[\w.-]{1,100}$/.test(name) ? name : quoted(name);
}
