// HTML from template literals. Every value is escaped, unless it is HTML itself.

import { onOneLine } from "../../../lib/text.ts";

/** All text from people and clients is escaped in it. */
export class Html {
	constructor(readonly text: string) {}
}

type Value = string | number | Html | undefined | readonly Value[];

/** Escapes values for text and attributes with double quotes, joins lists, and omits undefined. */
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

/** Untrusted text: 100 characters on one line, invisible ones escaped, in <bdi> against right-to-left text. */
export function shown(text: string): Html {
	return html`<bdi>${onOneLine(text, maxShownLength)}</bdi>`;
}
