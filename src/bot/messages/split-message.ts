// Splits a long text into messages that Discord accepts.

const maxLength = 2_000;
const searchLength = 200;

/** Pings nobody. */
export const noMentions = { parse: [], repliedUser: false };

/** Joining the pieces gives the text again. */
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

// Preferably inside a word, because Discord trims white space at the ends; never inside a surrogate pair.
function splitPosition(text: string): number {
	for (let at = maxLength; at > maxLength - searchLength; at--)
		if (/^\S\S$/.test(text.slice(at - 1, at + 1)) && !isLowSurrogate(text, at)) return at;
	return isLowSurrogate(text, maxLength) ? maxLength - 1 : maxLength;
}

function isLowSurrogate(text: string, at: number): boolean {
	const code = text.charCodeAt(at);
	return code >= 0xdc00 && code <= 0xdfff;
}

/** Without pieces of white space only, which Discord rejects. */
export function sendablePieces(text: string): string[] {
	return splitMessage(text).filter((piece) => piece.trim() !== "");
}
