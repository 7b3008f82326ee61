// Recognizes a tool's result as nearly every server writes it: one SSE event, with the members in the usual order and no
// white space between them. The id of such an event can be replaced without parsing the rest, which is passed on as bytes.

import { messageOpening } from "../sse.ts";

const beforeId = `${messageOpening}{"jsonrpc":"2.0","id":`;
const resultOpening = ',"result":{"content":[';
const tab = 0x09;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const comma = 0x2c;
const closeBrace = 0x7d;

/**
 * The bytes with which an SSE event with a tool's result can end, and whether such a result is an error (`isError:
 * true`).
 */
const endings = [
	{ text: "]}}\n\n", isError: false },
	{ text: '],"isError":false}}\n\n', isError: false },
	{ text: '],"isError":true}}\n\n', isError: true },
] as const;

const longestEnding = Math.max(...endings.map(({ text }) => text.length));
const isErrorKey = Buffer.from('"isError"');
/**
 * The bytes with which a key of a JSON object begins, except the object's first key: a comma or a space, then a
 * quotation mark.
 */
const keyOpenings = [Buffer.from(',"'), Buffer.from(' "')];

export class PlainEvent {
	private constructor(
		private readonly bytes: Buffer,
		/**
		 * Position in the event's bytes at which the JSON-RPC id of the response starts; `idEnd` is the position after it.
		 */
		private readonly idStart: number,
		private readonly idEnd: number,
		/** Whether the tool's result in this event has `isError: true`. */
		readonly isError: boolean,
	) {}

	/**
	 * Reads `bytes` as a single SSE event with a tool's result for the request `id`. Returns undefined if the bytes may
	 * be something else, for example if the JSON has an unusual layout.
	 */
	static read(bytes: Uint8Array, id: number): PlainEvent | undefined {
		const buffer = asBuffer(bytes);
		const start = `${beforeId}${id}${resultOpening}`;
		const { length } = buffer;
		if (buffer.toString("latin1", 0, start.length) !== start) return undefined;
		const tail = buffer.toString("latin1", length - longestEnding);
		const ending = endings.find(({ text }) => tail.endsWith(text));
		if (!ending) return undefined;
		// There is one event, with one line of data.
		if (buffer.indexOf(lineFeed, messageOpening.length) !== length - 2)
			return undefined;
		if (buffer.indexOf(carriageReturn) !== -1) return undefined;
		// This is a key: in a string, the quotation marks would be escaped.
		const keyAt = buffer.indexOf(isErrorKey);
		if (keyAt !== -1 && keyAt < length - ending.text.length) return undefined;
		if (mayHaveMoreMembers(buffer, start.length)) return undefined;
		const idEnd = start.length - resultOpening.length;
		return new PlainEvent(buffer, beforeId.length, idEnd, ending.isError);
	}

	/** The data of this SSE event: a JSON-RPC response as JSON text. */
	get text(): string {
		const end = this.bytes.length - 2;
		return this.bytes.toString("utf8", messageOpening.length, end);
	}

	/**
	 * Returns the bytes of this event with the response's id replaced by `id` (JSON text). May overwrite the event in
	 * place, so the event must not be read afterwards.
	 */
	withId(id: string): Uint8Array {
		const { bytes, idStart, idEnd } = this;
		const idLength = Buffer.byteLength(id);
		const start = idEnd - idLength - idStart;
		if (start >= 0) {
			bytes.copyWithin(start, 0, idStart);
			bytes.write(id, start + idStart);
			return bytes.subarray(start);
		}
		const changed = Buffer.allocUnsafe(
			bytes.length - (idEnd - idStart) + idLength,
		);
		bytes.copy(changed, 0, 0, idStart);
		changed.write(id, idStart);
		bytes.copy(changed, idStart + idLength, idEnd);
		return changed;
	}
}

/**
 * Whether the JSON text of a response may have another member after `result`, such as a second `id`. Returns true also
 * when in doubt.
 */
function mayHaveMoreMembers(bytes: Buffer, from: number): boolean {
	const skipSpaces = (at: number) => {
		while (bytes[at] === space) at--;
		return at;
	};
	// In most results this is the end of the last object, so little is left to search.
	const first = bytes.indexOf(closeBrace, from);
	// A tab can only be between tokens, where the usual form has none.
	if (bytes.indexOf(tab, first) !== -1) return true;
	for (const opening of keyOpenings)
		for (
			let at = bytes.indexOf(opening, first);
			at !== -1;
			at = bytes.indexOf(opening, at + 1)
		) {
			const before = skipSpaces(at);
			if (bytes[before] !== comma) continue;
			if (bytes[skipSpaces(before - 1)] === closeBrace) return true;
		}
	return false;
}

function asBuffer(bytes: Uint8Array): Buffer {
	if (Buffer.isBuffer(bytes)) return bytes;
	return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
