// Emoji that are characters, as opposed to those that a guild has of its own.

import type { Emoji } from "./entities.ts";

/** The emoji that this text is; undefined when it is none. */
export function standardEmoji(text: string): Emoji | undefined {
	// Some are written with and without the selector that asks for colours.
	const plain = text.replaceAll("\ufe0f", "");
	const known = [text, plain, `${plain}\ufe0f`].some((form) =>
		/^\p{RGI_Emoji}$/v.test(form),
	);
	return known ? { id: null, name: text } : undefined;
}
