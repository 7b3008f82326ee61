// Splits a long text into messages that Discord accepts.

const maxLength = 2_000;
const searchLength = 200;

/** Value of discord.js's option `allowedMentions` for a message that pings nobody. */
export const noMentions = { parse: [], repliedUser: false };

/** Splits a text into pieces that each fit into a Discord message. Joining the pieces gives the text again. */
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
 * Returns the index at which to split a long text: preferably inside a word, because Discord trims white space at the
 * ends of a message, and never inside a surrogate pair.
 */
function splitPosition(text: string): number {
	for (let at = maxLength; at > maxLength - searchLength; at--)
		if (/^\S\S$/.test(text.slice(at - 1, at + 1)) && !isLowSurrogate(text, at)) return at;
	return isLowSurrogate(text, maxLength) ? maxLength - 1 : maxLength;
}

function isLowSurrogate(text: string, at: number): boolean {
	const code = text.charCodeAt(at);
	return code >= 0xdc00 && code <= 0xdfff;
}

/**
 * Splits a text into pieces that each can be sent as a message. Leaves out pieces of white space only, which Discord
 * rejects.
 */
export function sendablePieces(text: string): string[] {
	return splitMessage(text).filter((piece) => piece.trim() !== "");
}
