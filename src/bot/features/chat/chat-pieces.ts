// A text that is still growing, in pieces that fit into a message each. What was cut once stays cut there, whatever
// comes after it. A block of code that goes on in the next message is closed in the one, and opened again in the other.

export interface Piece {
	/** Its part of the text: all parts together are the text. */
	from: number;
	to: number;
	/** What its message says; without more than white space where no message is needed. */
	shown: string;
}

/** Discord's limit for one message, in UTF-16 units at most. */
const maxLength = 2_000;
/** No character is longer than this. What goes beyond is somebody's joke. */
const lookAhead = 64;
/** What closes a block of code at the end of a message. */
const closing = "\n```";
/** What a block of code is opened with again is no longer than this. */
const maxLanguage = 20;

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** The pieces of `text`, of which only the last one changes when the text grows. */
export function cutIntoPieces(text: string, most = maxLength): Piece[] {
	const pieces: Piece[] = [];
	let from = 0;
	let opening = "";
	for (;;) {
		// A cut is made when all is there that decides where it is best.
		const room = most - opening.length - closing.length - lookAhead;
		const rest = text.slice(from);
		const last = rest.length <= room + lookAhead;
		const length = last ? rest.length : beforeFence(opening, rest, room);
		const next = fenceAfter(opening, rest.slice(0, length));
		// A line that ends with a message needs no second end.
		const gap = !last && rest[length] === "\n" ? 1 : 0;
		pieces.push({
			from,
			to: from + length + gap,
			shown: opening + rest.slice(0, length) + (next === "" ? "" : closing),
		});
		if (last) return pieces;
		from += length + gap;
		opening = next;
	}
}

/** Whether a block of code is open at the end of `text`. */
export function isCodeOpen(text: string): boolean {
	return fenceAfter("", text) !== "";
}

/** What opens the block of code that is open after `text`, when `opening` opened one before it; "" where none is. */
function fenceAfter(opening: string, text: string): string {
	let open = opening;
	for (const { index } of text.matchAll(/`{3,}/g)) {
		const [fence = ""] = /^`+/.exec(text.slice(index)) ?? [];
		const after = text.slice(index + fence.length, index + fence.length + 40);
		const [, language = ""] = /^([\w+#.-]*)\n/.exec(after) ?? [];
		open = open === "" ? `\`\`\`${language.slice(0, maxLanguage)}\n` : "";
	}
	return open;
}

/** As `cutAt`, but not right after what opens a block of code: that belongs to the code. */
function beforeFence(opening: string, text: string, room: number): number {
	const at = cutAt(text, room);
	const { index = 0 } = /\n?`{3,}[^\n`]*$/.exec(text.slice(0, at)) ?? {};
	const opens = index > 0 && fenceAfter(opening, text.slice(0, index)) === "";
	return opens ? index : at;
}

/** Where a text that is longer than `room` is best cut: after a paragraph, a line, a word, and never within a character. */
function cutAt(text: string, room: number): number {
	const window = text.slice(0, room + 1);
	for (const [between, least] of [
		["\n\n", room / 2],
		["\n", room / 2],
		[" ", (room * 3) / 4],
	] as const) {
		const at = window.lastIndexOf(between, room);
		if (at >= least) return at;
	}
	return withinNone(text, room);
}

/** The last place up to `room` that is in the middle of nothing: no emoji, no three backticks. */
function withinNone(text: string, room: number): number {
	let at = 0;
	// From the beginning: where a flag ends depends on the ones before it.
	for (const { index, segment } of graphemes.segment(
		text.slice(0, room + lookAhead),
	)) {
		if (index + segment.length > room) break;
		at = index + segment.length;
	}
	const start = room - lookAhead;
	while (at > start && text[at - 1] === "`" && text[at] === "`") at -= 1;
	if (at > start) return at;
	return /[\udc00-\udfff]/.test(text[room] ?? "") ? room - 1 : room;
}
