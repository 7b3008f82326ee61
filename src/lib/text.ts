// Escapes untrusted text for log lines, errors and lists. Invisible characters become escapes, so that nobody can hide an
// instruction in a name: tag characters, zero-width characters, fillers, variation selectors and everything else that Unicode
// calls a format character or ignorable (https://www.unicode.org/reports/tr44/#Default_Ignorable_Code_Point).

/**
 * Creates the regular expressions for what is escaped. It takes 2 MiB, so it is done when a text first needs them: many
 * programs never meet such a text.
 */
function createPatterns() {
	/**
	 * Regular expression source for characters that would end a line or control a terminal: control characters and line
	 * separators.
	 */
	const breaking = String.raw`[\p{Cc}\p{Zl}\p{Zp}]`;

	const visible = String.raw`[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]`;

	const invisible = String.raw`(?!${visible})[\p{Cf}\p{DI}\p{Cs}\p{NChar}]`;

	/**
	 * Regular expression source for one emoji, with or without a variation selector or a skin tone
	 * (https://www.unicode.org/reports/tr51/).
	 */
	const onePicture = String.raw`\p{ExtPict}(?:\p{EMod}\ufe0f?|[\ufe0e\ufe0f]\p{EMod}?)?`;
	/**
	 * Regular expression sources for the flags of England, Scotland and Wales. Only these three emoji may contain tag
	 * characters, which are invisible and could hide any text.
	 */
	const flags = ["gbeng", "gbsct", "gbwls"].map((code) => {
		const tags = Array.from(code, (letter) => 0xe0000 + letter.charCodeAt(0));
		return `\u{1f3f4}${String.fromCodePoint(...tags, 0xe007f)}`;
	});
	const emoji = String.raw`${flags.join("|")}|[0-9#*]\ufe0f\u20e3|${onePicture}(?:\u200d${onePicture})*`;

	const scripts = "Arab Syrc Nkoo Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Mymr Mong";
	const unspaced = "Khmr Laoo Mymr Thai";
	const after = (names: string) => `(?<=[${names.replace(/(\w+) ?/g, "\\p{sc=$1}")}])`;
	const joiner = String.raw`(?:${after(scripts)}[\u200c\u200d]|${after(unspaced)}\u200b(?=\p{L}))(?!${invisible})`;

	return {
		breaking: new RegExp(breaking, "gu"),
		invisibleOrBreaking: new RegExp(`${invisible}|${breaking}`, "u"),
		escapable: new RegExp(`${emoji}|${joiner}|((?:${invisible})+)|(${breaking})`, "gu"),
	};
}

let created: ReturnType<typeof createPatterns> | undefined;

function patterns() {
	created ??= createPatterns();
	return created;
}

function isPlain(text: string): boolean {
	return !/[^ -~]/.test(text);
}

/**
 * Whether `text` needs no escaping, because it has no line breaks or invisible characters. This check is cheap, and
 * most texts pass it.
 */
function isClean(text: string): boolean {
	return isPlain(text) || !patterns().invisibleOrBreaking.test(text);
}

const maxRun = 32;

/**
 * Replaces invisible characters and line breaks in `text` with `write(character)`, by default an escape such as
 * `\u{200b}`. Emoji are kept, and so are invisible joiners in scripts that need them, such as Arabic.
 */
export function escapeUnseen(text: string, write: (character: string) => string = unicodeEscape): string {
	if (isClean(text)) return text;
	return text.replace(patterns().escapable, (seen, run?: string, end?: string) => {
		if (end !== undefined) return write(end);
		if (run === undefined) return seen;
		const characters = [...run];
		const more = characters.length - maxRun;
		const written = characters.slice(0, maxRun).map(write).join("");
		return more > 0 ? `${written}\\u{…${more} more}` : written;
	});
}

/** Returns the escape sequence of a character, such as `\u{200b}`. */
export function unicodeEscape(character: string): string {
	return `\\u{${character.codePointAt(0)?.toString(16).padStart(4, "0")}}`;
}

/**
 * Returns the first `maxLength` characters of `text` on one line: line breaks become spaces, and invisible characters
 * are escaped.
 */
export function onOneLine(text: string, maxLength: number): string {
	const short = text.slice(0, maxLength);
	return isPlain(short) ? short : escapeUnseen(short.replace(patterns().breaking, " "));
}

/** Escapes line breaks and invisible characters in `text`, so that it stays on one line of the log. */
export function escapeBreaks(text: string): string {
	return escapeUnseen(text, (character) => (character === "\n" ? "\\n" : unicodeEscape(character)));
}

/** Escapes the invisible characters in a JSON text, which then still parses to the same value. */
export function escapeInJson(json: string): string {
	if (isClean(json)) return json;
	return json.replace(patterns().escapable, (seen, run?: string, end?: string) => {
		const hidden = run ?? end;
		if (hidden === undefined) return seen;
		return hidden
			.split("")
			.map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
			.join("");
	});
}

/** Returns the first 100 characters of `text` as a JSON string, for error messages. */
export function quoted(text: string): string {
	return escapeInJson(JSON.stringify(text.slice(0, 100)));
}

/**
 * Returns an untrusted name for error messages: unchanged if it has only ASCII letters, digits, "_", "." and "-",
 * otherwise as a JSON string.
 */
export function shownName(name: string): string {
	return /^[\w.-]{1,100}$/.test(name) ? name : quoted(name);
}
