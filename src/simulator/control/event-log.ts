// The simulator's event stream (server-sent events), for pages and programs that watch it.
// https://html.spec.whatwg.org/multipage/server-sent-events.html

const maxWaitingBytes = 4_000_000;
const longestString = 4_000;
const maxReaders = 64;

type Reader = ReadableStreamDefaultController<Uint8Array>;

/** Sends events to all readers. One that is too slow is disconnected: it connects again, and reads the state again. */
export class EventLog {
	readonly #readers = new Set<Reader>();

	/** `data` is sent as JSON; strings longer than 4,000 characters are cut. */
	add(event: string, data: unknown): void {
		const frame = frameOf(event, data);
		for (const reader of this.#readers) {
			if ((reader.desiredSize ?? 0) > 0) reader.enqueue(frame);
			else {
				this.#readers.delete(reader);
				reader.error(undefined);
			}
		}
	}

	/** The events from now on; first "hello". */
	open(): Response {
		if (this.#readers.size >= maxReaders) return new Response(`at most ${maxReaders} readers\n`, { status: 503 });
		let own: Reader | undefined;
		const stream = new ReadableStream<Uint8Array>(
			{
				start: (reader) => {
					own = reader;
					this.#readers.add(reader);
					reader.enqueue(frameOf("hello", {}));
				},
				cancel: () => {
					if (own) this.#readers.delete(own);
				},
			},
			new ByteLengthQueuingStrategy({ highWaterMark: maxWaitingBytes }),
		);
		return new Response(stream, {
			headers: {
				"Content-Type": "text/event-stream",
				"Cache-Control": "no-store",
				"X-Content-Type-Options": "nosniff",
			},
		});
	}
}

function frameOf(event: string, data: unknown): Uint8Array {
	// JSON text has no line breaks.
	return Buffer.from(`event: ${event}\ndata: ${JSON.stringify(data, cut)}\n\n`);
}

function cut(_key: string, value: unknown): unknown {
	return typeof value === "string" && value.length > longestString ? `${value.slice(0, longestString)}…` : value;
}
