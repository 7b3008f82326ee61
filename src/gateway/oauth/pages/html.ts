// HTML from template literals. Every value is escaped, unless it is HTML itself.

import { onOneLine } from "../../../lib/text.ts";
import { type Language, render, type Said, type TextKey, type ValuesOf } from "../../../texts/texts.ts";

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

/** A message whose values may be HTML. */
export function sayHtml<Key extends TextKey>(
	language: Language,
	key: Key,
	values: { readonly [Name in keyof ValuesOf<Key>]: ValuesOf<Key>[Name] | Html },
): Html {
	const parts: Html[] = [];
	const entries = Object.entries<string | number | Said | Html>(values).map(([name, value]) => [
		name,
		value instanceof Html ? `\u0001${parts.push(value) - 1}\u0001` : value,
	]);
	const pieces = render({ key, values: Object.fromEntries(entries) }, language).split("\u0001");
	return html`${pieces.map((piece, index) => (index % 2 === 0 ? piece : parts[Number(piece)]))}`;
}

const maxShownLength = 100;

/** Untrusted text: 100 characters on one line, invisible ones escaped, in <bdi> against right-to-left text. */
export function shown(text: string): Html {
	return html`<bdi>${onOneLine(text, maxShownLength)}</bdi>`;
}
