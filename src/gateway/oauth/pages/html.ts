// HTML from template literals. Every value is escaped, unless it is HTML itself.

import { onOneLine } from "../../../lib/text.ts";

/** A piece of HTML that is safe to show: all text from people and clients is escaped in it. */
export class Html {
	constructor(readonly text: string) {}
}

type Value = string | number | Html | undefined | readonly Value[];

/**
 * Tag for template literals with HTML. Escapes inserted values for use in text and in attributes with double quotes,
 * joins lists, and omits undefined.
 */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
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
 * Returns untrusted text, such as the name of a client, as HTML: at most 100 characters on one line, with invisible
 * characters escaped, inside <bdi> so that right-to-left text does not change the text around it.
 */
export function shown(text: string): Html {
	return html`<bdi>${onOneLine(text, maxShownLength)}</bdi>`;
}
