// Splits a long text into messages that Discord accepts.

/** Discord's limit per message, in UTF-16 code units. */
const maxLength = 2_000;
/** How many code units before the limit to search for a position inside a word. */
const searchLength = 200;

/** The allowed mentions of a text that pings nobody. */
export const noMentions = { parse: [], repliedUser: false };

/** `text` in pieces that each fit into a message. Joined, they are the text. */
export function splitMessage(text: string): string[] {
	const pieces: string[] = [];
	let rest = text;
	while (rest.length > maxLength) {
		const at = splitPosition(rest);
		pieces.push(rest.slice(0, at));
		rest = rest.slice(at);
	}
	return [...pieces, rest];
}

/**
 * Where to split: inside a word, because Discord trims white space at the ends of a message. Never inside a surrogate
 * pair.
 */
function splitPosition(text: string): number {
	for (let at = maxLength; at > maxLength - searchLength; at--)
		if (/^\S\S$/.test(text.slice(at - 1, at + 1)) && !isLowSurrogate(text, at))
			return at;
	return isLowSurrogate(text, maxLength) ? maxLength - 1 : maxLength;
}

/** Whether the code unit at this position is the second half of a surrogate pair. */
function isLowSurrogate(text: string, at: number): boolean {
	const code = text.charCodeAt(at);
	return code >= 0xdc00 && code <= 0xdfff;
}

/** The pieces of a text that can be sent: Discord rejects a message of white space only. */
export function sendablePieces(text: string): string[] {
	return splitMessage(text).filter((piece) => piece.trim() !== "");
}
