// Splits a growing text into messages. Cuts are stable: appending text never moves an earlier cut. A code block that spans
// two messages is closed in the first and reopened in the second.

interface MessagePart {
	/** Start index in UTF-16 code units. The parts of all messages together are the whole text. */
	from: number;
	/** End index (exclusive) of the part of the answer's text that one Discord message shows. */
	to: number;
	/** If blank, no message is necessary. */
	content: string;
}

const maxLength = 2_000;
const lookAhead = 64;
const closing = "\n```";
const maxLanguageLength = 20;

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** Splits a growing text into parts that fit into Discord messages. Text appended later changes only the last part. */
export function splitAnswer(text: string): MessagePart[] {
	const parts: MessagePart[] = [];
	let from = 0;
	let opening = "";
	for (;;) {
		// Cut only when enough text has arrived to choose the best cut.
		const room = maxLength - opening.length - closing.length - lookAhead;
		const rest = text.slice(from);
		const isLast = rest.length <= room + lookAhead;
		const length = isLast ? rest.length : cutBeforeFence(opening, rest, room);
		const nextOpening = openFence(opening, rest.slice(0, length));
		// A line break at the cut is dropped.
		const gap = !isLast && rest[length] === "\n" ? 1 : 0;
		parts.push({
			from,
			to: from + length + gap,
			content: opening + rest.slice(0, length) + (nextOpening === "" ? "" : closing),
		});
		if (isLast) return parts;
		from += length + gap;
		opening = nextOpening;
	}
}

/** Whether a Markdown code block is still open at the end of `text`. */
export function isCodeOpen(text: string): boolean {
	return openFence("", text) !== "";
}

function openFence(opening: string, text: string): string {
	let open = opening;
	for (const { index } of text.matchAll(/`{3,}/g)) {
		const [fence = ""] = /^`+/.exec(text.slice(index)) ?? [];
		const after = text.slice(index + fence.length, index + fence.length + 40);
		const [, language = ""] = /^([\w+#.-]*)\n/.exec(after) ?? [];
		open = open === "" ? `\`\`\`${language.slice(0, maxLanguageLength)}\n` : "";
	}
	return open;
}

function cutBeforeFence(opening: string, text: string, room: number): number {
	const cut = findCut(text, room);
	const { index = 0 } = /\n?`{3,}[^\n`]*$/.exec(text.slice(0, cut)) ?? {};
	const isOpening = index > 0 && openFence(opening, text.slice(0, index)) === "";
	return isOpening ? index : cut;
}

function findCut(text: string, room: number): number {
	const window = text.slice(0, room + 1);
	for (const [separator, min] of [
		["\n\n", room / 2],
		["\n", room / 2],
		[" ", (room * 3) / 4],
	] as const) {
		const index = window.lastIndexOf(separator, room);
		if (index >= min) return index;
	}
	return graphemeBoundary(text, room);
}

function graphemeBoundary(text: string, room: number): number {
	let end = 0;
	// From the start: the boundaries of flags depend on the flags before them.
	for (const { index, segment } of graphemes.segment(text.slice(0, room + lookAhead))) {
		if (index + segment.length > room) break;
		end = index + segment.length;
	}
	const start = room - lookAhead;
	while (end > start && text[end - 1] === "`" && text[end] === "`") end -= 1;
	if (end > start) return end;
	return /[\udc00-\udfff]/.test(text[room] ?? "") ? room - 1 : room;
}
