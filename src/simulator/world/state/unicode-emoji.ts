// Unicode emoji, as opposed to the custom emoji of guilds.

import type { Emoji } from "./entities.ts";

export function parseUnicodeEmoji(text: string): Emoji | undefined {
	// Some can be written with and without the variation selector.
	const plain = text.replaceAll("\ufe0f", "");
	const known = [text, plain, `${plain}\ufe0f`].some((form) => /^\p{RGI_Emoji}$/v.test(form));
	return known ? { id: null, name: text } : undefined;
}
