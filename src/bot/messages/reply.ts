// Text that is sent to people: as long as it is, and pinging nobody.

/** Discord's limit for one message, in UTF-16 units at most. */
const maxLength = 2_000;
/** How far before the limit a better place to cut is looked for. */
const searchLength = 200;

/** Who a text of the bot's may ping: nobody. */
export const nobody = { parse: [], repliedUser: false };

/** `text` in pieces that fit into a message each. Put together again, they are the text. */
export function splitMessage(text: string): string[] {
	const pieces: string[] = [];
	let rest = text;
	while (rest.length > maxLength) {
		const at = cutAt(rest);
		pieces.push(rest.slice(0, at));
		rest = rest.slice(at);
	}
	return [...pieces, rest];
}

/** Discord takes white space off the ends of a message: a cut is best within a word, and never within a character. */
function cutAt(text: string): number {
	for (let at = maxLength; at > maxLength - searchLength; at--)
		if (/^\S\S$/.test(text.slice(at - 1, at + 1)) && !isLow(text, at))
			return at;
	return isLow(text, maxLength) ? maxLength - 1 : maxLength;
}

/** Whether the second half of a surrogate pair stands here. */
function isLow(text: string, at: number): boolean {
	const code = text.charCodeAt(at);
	return code >= 0xdc00 && code <= 0xdfff;
}

/** What of a text can be sent: Discord takes no message of white space alone. */
export function piecesOf(text: string): string[] {
	return splitMessage(text).filter((piece) => piece.trim() !== "");
}
