// HTML from template literals. Every value is escaped, unless it is HTML itself.

import { onOneLine } from "../../../lib/text.ts";

/** HTML in which everything that others wrote is escaped. */
export class Html {
	constructor(readonly text: string) {}
}

type Value = string | number | Html | undefined | readonly Value[];

/**
 * Returns the HTML of a template literal. Values are escaped for texts and for attributes in double quotes; lists are
 * joined, and undefined is nothing.
 */
export function html(
	strings: TemplateStringsArray,
	...values: readonly Value[]
): Html {
	// Not `strings.raw`: there Bun writes characters beyond ASCII as escapes.
	return new Html(String.raw({ raw: strings }, ...values.map(toHtml)));
}

function toHtml(value: Value): string {
	if (value === undefined) return "";
	if (value instanceof Html) return value.text;
	if (typeof value === "object") return value.map(toHtml).join("");
	return Bun.escapeHTML(value);
}

const maxShownLength = 100;

/**
 * Returns a text that strangers wrote, such as a name, as HTML: shortened to 100 characters on one line, with invisible
 * characters as escapes, and isolated, so that its direction does not change the text around it.
 */
export function shown(text: string): Html {
	return html`<bdi>${onOneLine(text, maxShownLength)}</bdi>`;
}
