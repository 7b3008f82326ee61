// Writes and reads Server-Sent Events. https://html.spec.whatwg.org/multipage/server-sent-events.html

/** `data` joins the data lines by line feeds. `id` and `retry` are ignored. */
export interface SseEvent {
	event: string;
	data: string;
}

export const messageOpening = "event: message\ndata: ";

export function encodeMessage(json: string): string {
	return `${messageOpening}${onOneLine(json)}\n\n`;
}

/** An SSE event needs it. */
export function onOneLine(json: string): string {
	return json.replace(/[\r\n]+/g, " ");
}

/** Also uncompressed, since not every client accepts gzip. */
export interface PreparedEvent {
	plain(): Uint8Array;
	/** Undefined if it saves nothing. */
	gzip(): Uint8Array | undefined;
}

const maxLines = 100_000;

/** RangeError beyond `maxEventLength` UTF-16 units or 100,000 lines. Ignores an incomplete event at the end. */
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
