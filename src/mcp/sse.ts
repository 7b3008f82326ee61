// Server-Sent Events, both ways. https://html.spec.whatwg.org/multipage/server-sent-events.html

/** One event of a stream. `data` has its lines joined by line feeds; `id` and `retry` are read and dropped. */
export interface SseEvent {
	event: string;
	data: string;
}

/** The part of a frame before the JSON text. */
export const messageOpening = "event: message\ndata: ";

/** A frame that carries one JSON text. */
export function encodeMessage(json: string): string {
	return `${messageOpening}${onOneLine(json)}\n\n`;
}

/** JSON text for a frame. It has line breaks only between tokens, where a space means the same. */
export function onOneLine(json: string): string {
	return json.replace(/[\r\n]+/g, " ");
}

/** Limit of a stream: millions of short lines would delay all other responses. */
const maxLines = 100_000;

/**
 * The events of a byte stream, split anywhere. Throws a RangeError when an event is longer than `maxEventLength` UTF-16
 * units, or the stream has more than 100,000 lines. Text after the last empty line was cut off and is ignored.
 */
export async function* readEvents(
	stream: AsyncIterable<Uint8Array>,
	maxEventLength: number,
): AsyncGenerator<SseEvent> {
	const decoder = new TextDecoder(); // drops a byte order mark at the start
	let rest = ""; // of a line that is not over yet
	let afterCarriageReturn = false;
	let event = "";
	let data: string[] = [];
	let length = 0;
	let lineCount = 0;

	for await (const chunk of stream) {
		let text = decoder.decode(chunk, { stream: true });
		if (text === "") continue;
		// CR LF is one line end, also when the two come apart.
		if (afterCarriageReturn && text.startsWith("\n")) text = text.slice(1);
		afterCarriageReturn = text.endsWith("\r");
		const lines = text.split(/\r\n|\r|\n/);
		lines[0] = rest + lines[0];
		rest = lines.pop() ?? "";
		lineCount += lines.length;
		if (lineCount > maxLines)
			throw new RangeError(`the stream has more than ${maxLines} lines`);
		for (const line of lines) {
			if (line === "") {
				if (data.length > 0)
					yield { event: event || "message", data: data.join("\n") };
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
			throw new RangeError(
				`an event is longer than ${maxEventLength} characters`,
			);
	}
}
