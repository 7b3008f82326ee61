// Foreign words in lines of our own: log lines, errors, lists.

/** Control characters, and line and paragraph separators: what would end a line, or command a terminal. */
const breaking = /[\p{Cc}\p{Zl}\p{Zp}]/gu;

/** At most `maxLength` of a text, on one line. */
export function onOneLine(text: string, maxLength: number): string {
	return text.slice(0, maxLength).toWellFormed().replace(breaking, " ");
}

/** A text with what would end its line written as an escape. */
export function escapeBreaks(text: string): string {
	return text.replace(breaking, (character) =>
		character === "\n"
			? "\\n"
			: `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
	);
}

/** At most 100 characters of a text, in quotation marks, with what would end its line written as an escape. */
export function quoted(text: string): string {
	return JSON.stringify(text.slice(0, 100));
}

/** A name that someone made up: as it is if it looks like one, else in quotation marks. */
export function shownName(name: string): string {
	return /^[\w.-]{1,100}$/.test(name) ? name : quoted(name);
}
