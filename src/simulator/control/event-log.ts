// The simulator's event stream, for pages and programs that watch it.

import { type EventStream, eventText, openEventStream } from "../../lib/event-stream.ts";

const maxWaitingBytes = 4_000_000;
const longestString = 4_000;
const maxReaders = 64;

const headers = {
	"Content-Type": "text/event-stream",
	"Cache-Control": "no-store",
	"X-Content-Type-Options": "nosniff",
};

/** Sends events to all readers. One that is too slow is disconnected: it connects again, and reads the state again. */
export class EventLog {
	readonly #streams = new Set<EventStream>();

	/** `data` is sent as JSON; strings longer than 4,000 characters are cut. */
	add(event: string, data: unknown): void {
		const text = eventText(event, data, cut);
		for (const stream of [...this.#streams])
			if (stream.isReady) stream.send(text);
			else stream.drop();
	}

	/** The events from now on; first "hello". */
	open(): Response {
		if (this.#streams.size >= maxReaders) return new Response(`at most ${maxReaders} readers\n`, { status: 503 });
		const stream = openEventStream(headers, maxWaitingBytes, () => this.#streams.delete(stream));
		this.#streams.add(stream);
		stream.send(eventText("hello", {}));
		return stream.response;
	}
}

function cut(_key: string, value: unknown): unknown {
	return typeof value === "string" && value.length > longestString ? `${value.slice(0, longestString)}…` : value;
}
