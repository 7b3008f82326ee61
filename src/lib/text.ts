// Escapes untrusted text for log lines, errors and lists. Invisible characters become escapes, so that nobody can hide an
// instruction in a name: tag characters, zero-width characters, fillers, variation selectors and everything else that Unicode
// calls a format character or ignorable (https://www.unicode.org/reports/tr44/#Default_Ignorable_Code_Point).

/** Takes 2 MiB, so it is done when first needed: many programs never meet such a text. */
function createPatterns() {
	/** Would end a line or control a terminal. */
	const breaking = String.raw`[\p{Cc}\p{Zl}\p{Zp}]`;

	const visible = String.raw`[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]`;

	const invisible = String.raw`(?!${visible})[\p{Cf}\p{DI}\p{Cs}\p{NChar}]`;

	/** One emoji, with a variation selector or skin tone (https://www.unicode.org/reports/tr51/). */
	const onePicture = String.raw`\p{ExtPict}(?:\p{EMod}\ufe0f?|[\ufe0e\ufe0f]\p{EMod}?)?`;
	/** England, Scotland, Wales: only these emoji may have tag characters, which are invisible and could hide any text. */
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

/** Cheap, and most texts pass it. */
function isClean(text: string): boolean {
	return isPlain(text) || !patterns().invisibleOrBreaking.test(text);
}

const maxRun = 32;

/** Line breaks, too; by default as `\u{200b}`. Keeps emoji, and joiners in scripts that need them, such as Arabic. */
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

/** Such as `\u{200b}`. */
export function unicodeEscape(character: string): string {
	return `\\u{${character.codePointAt(0)?.toString(16).padStart(4, "0")}}`;
}

/** Cuts at `maxLength` characters; line breaks become spaces, invisible characters are escaped. */
export function onOneLine(text: string, maxLength: number): string {
	const short = text.slice(0, maxLength);
	return isPlain(short) ? short : escapeUnseen(short.replace(patterns().breaking, " "));
}

/** Joins the first `max` texts, and says how many more there are: "a, b and 3 more". */
export function listFirst(texts: readonly string[], max: number, before = " and ", between = ", "): string {
	const more = texts.length - max;
	return `${texts.slice(0, max).join(between)}${more > 0 ? `${before}${more} more` : ""}`;
}

/** Line breaks and invisible characters, so that the text stays on one line of the log. */
export function escapeBreaks(text: string): string {
	return escapeUnseen(text, (character) => (character === "\n" ? "\\n" : unicodeEscape(character)));
}

/** The text still parses to the same value. */
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

/** The first 100 characters as a JSON string. */
export function quoted(text: string): string {
	return escapeInJson(JSON.stringify(text.slice(0, 100)));
}

/** Unchanged if only ASCII letters, digits, "_", "." and "-"; otherwise a JSON string. */
export function shownName(name: string): string {
	return /^[\w.-]{1,100}$/.test(name) ? name : quoted(name);
}

/** In the largest unit, such as "12 min". */
export function duration(ms: number): string {
	const seconds = Math.floor(ms / 1000);
	if (seconds < 60) return `${seconds} s`;
	if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
	if (seconds < 2 * 86_400) return `${Math.floor(seconds / 3_600)} h`;
	return `${Math.floor(seconds / 86_400)} d`;
}
