// Recognizes a tool's result as nearly every server writes it: one SSE event, with the members in the usual order and no
// white space between them. The id of such an event can be replaced without parsing the rest, which is passed on as bytes.

import type { JsonObject } from "../../lib/json.ts";
import { messageOpening } from "../sse.ts";

const beforeId = `${messageOpening}{"jsonrpc":"2.0","id":`;
const resultOpening = ',"result":{"content":[';
const tab = 0x09;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const comma = 0x2c;
const closeBrace = 0x7d;

const endings = [
	{ text: "]}}\n\n", isError: false },
	{ text: '],"isError":false}}\n\n', isError: false },
	{ text: '],"isError":true}}\n\n', isError: true },
] as const;

const isErrorKey = Buffer.from('"isError"');
const keyOpenings = [Buffer.from(',"'), Buffer.from(' "')];

export class PlainEvent {
	private constructor(
		private readonly bytes: Buffer,
		private readonly idStart: number,
		private readonly idEnd: number,
		readonly isError: boolean,
	) {}

	/** Undefined if the bytes may be something else than the result for `id`, such as JSON in an unusual layout. */
	static read(bytes: Uint8Array, id: number): PlainEvent | undefined {
		const buffer = asBuffer(bytes);
		const { length } = buffer;
		const idText = String(id);
		const idEnd = beforeId.length + idText.length;
		const isPlain =
			hasText(buffer, 0, beforeId) && hasText(buffer, beforeId.length, idText) && hasText(buffer, idEnd, resultOpening);
		if (!isPlain) return undefined;
		const ending = endingOf(buffer);
		if (!ending) return undefined;
		// There is one event, with one line of data.
		if (buffer.indexOf(lineFeed, messageOpening.length) !== length - 2) return undefined;
		if (buffer.indexOf(carriageReturn) !== -1) return undefined;
		// This is a key: in a string, the quotation marks would be escaped.
		const keyAt = buffer.indexOf(isErrorKey);
		const endingAt = length - ending.text.length;
		if (keyAt !== -1 && keyAt < endingAt) return undefined;
		if (mayHaveMoreMembers(buffer, idEnd + resultOpening.length, endingAt)) return undefined;
		return new PlainEvent(buffer, beforeId.length, idEnd, ending.isError);
	}

	get text(): string {
		const end = this.bytes.length - 2;
		return this.bytes.toString("utf8", messageOpening.length, end);
	}

	get message(): JsonObject & { result: unknown } {
		return JSON.parse(this.text);
	}

	get event(): PlainEvent {
		return this;
	}

	/** `id` is JSON text. May overwrite the event in place, so do not read it afterwards. */
	withId(id: string): Uint8Array {
		const { bytes, idStart, idEnd } = this;
		const idLength = Buffer.byteLength(id);
		const start = idEnd - idLength - idStart;
		if (start >= 0) {
			bytes.copyWithin(start, 0, idStart);
			bytes.write(id, start + idStart);
			return bytes.subarray(start);
		}
		const changed = Buffer.allocUnsafe(bytes.length - (idEnd - idStart) + idLength);
		bytes.copy(changed, 0, 0, idStart);
		changed.write(id, idStart);
		bytes.copy(changed, idStart + idLength, idEnd);
		return changed;
	}
}

function endingOf(bytes: Buffer): (typeof endings)[number] | undefined {
	for (const ending of endings) if (hasText(bytes, bytes.length - ending.text.length, ending.text)) return ending;
	return undefined;
}

function hasText(bytes: Buffer, position: number, text: string): boolean {
	for (let at = 0; at < text.length; at++) if (bytes[position + at] !== text.charCodeAt(at)) return false;
	return true;
}

function mayHaveMoreMembers(bytes: Buffer, from: number, end: number): boolean {
	const first = bytes.indexOf(closeBrace, from);
	// In most results this is the end of the only object: no other can follow.
	if (first === end - 1) return false;
	// A tab can only be between tokens, where the usual form has none.
	if (bytes.indexOf(tab, first) !== -1) return true;
	const skipSpaces = (at: number) => {
		while (bytes[at] === space) at--;
		return at;
	};
	for (const opening of keyOpenings)
		for (let at = bytes.indexOf(opening, first); at !== -1; at = bytes.indexOf(opening, at + 1)) {
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
