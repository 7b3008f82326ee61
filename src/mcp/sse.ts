// Writes and reads Server-Sent Events. https://html.spec.whatwg.org/multipage/server-sent-events.html

/**
 * One event of a Server-Sent Events stream. `data` is the event's data lines, joined by line feeds. The SSE fields `id`
 * and `retry` are ignored.
 */
export interface SseEvent {
	event: string;
	data: string;
}

/** The beginning of an SSE event up to its data, which is a JSON text. */
export const messageOpening = "event: message\ndata: ";

/** Encodes an SSE event whose data is this JSON text. */
export function encodeMessage(json: string): string {
	return `${messageOpening}${onOneLine(json)}\n\n`;
}

/** Puts a JSON text on one line by replacing line breaks with spaces, so that an SSE event can contain it. */
export function onOneLine(json: string): string {
	return json.replace(/[\r\n]+/g, " ");
}

/** A server's response as one SSE event, available uncompressed and as gzip, since not every client accepts gzip. */
export interface PreparedEvent {
	plain(): Uint8Array;
	/**
	 * Returns the SSE event as one gzip file; undefined if compression would save nothing. The file is valid until this is
	 * called for another event with the same list.
	 */
	gzip(): Uint8Array | undefined;
}

const maxLines = 100_000;

/**
 * Reads Server-Sent Events from a byte stream, whose chunks may be split anywhere. Throws a RangeError if an event is
 * longer than `maxEventLength` UTF-16 units, or if the stream has more than 100,000 lines. An incomplete event at the
 * end is ignored.
 */
export async function* readEvents(stream: AsyncIterable<Uint8Array>, maxEventLength: number): AsyncGenerator<SseEvent> {
	const decoder = new TextDecoder(); // drops a byte order mark at the start
	let rest = ""; // the incomplete last line
	let afterCarriageReturn = false;
	let event = "";
	let data: string[] = [];
	let length = 0;
	let lineCount = 0;

	for await (const chunk of stream) {
		let text = decoder.decode(chunk, { stream: true });
		if (text === "") continue;
		// CR LF is one line end, even if it is split between two chunks.
		if (afterCarriageReturn && text.startsWith("\n")) text = text.slice(1);
		afterCarriageReturn = text.endsWith("\r");
		const lines = text.split(/\r\n|\r|\n/);
		lines[0] = rest + lines[0];
		rest = lines.pop() ?? "";
		lineCount += lines.length;
		if (lineCount > maxLines) throw new RangeError(`the event stream of a response has more than ${maxLines} lines`);
		for (const line of lines) {
			if (line === "") {
				if (data.length > 0) yield { event: event || "message", data: data.join("\n") };
				event = "";
				data = [];
				length = 0;
				continue;
			}
			checkLength(line);
			const colon = line.indexOf(":");
			const field = colon < 0 ? line : line.slice(0, colon);
			const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
			if (field === "event") event = value;
			if (field === "data") {
				data.push(value);
				length += value.length + 1;
			}
		}
		checkLength(rest);
	}

	function checkLength(line: string) {
		if (length + line.length > maxEventLength)
			throw new RangeError(`an event of the event stream is longer than ${maxEventLength} characters`);
	}
}
