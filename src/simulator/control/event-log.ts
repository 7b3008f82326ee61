// The simulator's event stream (server-sent events), for pages and programs that watch it. The latest events are kept
// for readers that reconnect. https://html.spec.whatwg.org/multipage/server-sent-events.html

import { randomBytes } from "node:crypto";

const kept = { events: 2_000, length: 4_000_000 };
const longestString = 4_000;
const maxReaders = 64;
const batchLength = 64 * 1024;
const reconnectMs = 1_000;
const defaultHeartbeatMs = 15_000;

const idPattern = /^([0-9a-f]{8})-(\d{1,15})$/;

interface Reader {
	next: number;
	/** Why the reader has missed events and must reload; undefined if it has not. */
	reload: string | undefined;
	greeted: boolean;
	closed: boolean;
}

/**
 * A log of events with consecutive ids, which readers follow as a stream of server-sent events. Nothing is queued per
 * reader: each has a position in the log. A reader that is too slow, or connects again too late, receives the event
 * `reload` in place of the events that it missed.
 */
export class EventLog {
	/** Name of this log, random and part of the event ids, so that ids of an earlier process are recognized. */
	readonly #name = randomBytes(4).toString("hex");
	readonly #frames: string[] = [];
	#first = 1;
	#length = 0;
	#readers = 0;
	#added = Promise.withResolvers<void>();

	/** Sends each reader a comment when there was no event for `heartbeatMs` milliseconds (default: 15 s). */
	constructor(private readonly heartbeatMs = defaultHeartbeatMs) {}

	/** The id of the latest event. A reader that starts after it receives all later events. */
	get lastId(): string {
		return this.#id(this.#last);
	}

	get #last(): number {
		return this.#first + this.#frames.length - 1;
	}

	#id(number: number): string {
		return `${this.#name}-${number}`;
	}

	/** Adds an event. `data` is sent as JSON; strings longer than 4,000 characters are cut. */
	add(event: string, data: unknown): void {
		const frame = frameOf(this.#id(this.#last + 1), event, data);
		this.#frames.push(frame);
		this.#length += frame.length;
		while (this.#frames.length > kept.events || this.#length > kept.length) {
			this.#length -= this.#frames.shift()?.length ?? 0;
			this.#first += 1;
		}
		const added = this.#added;
		this.#added = Promise.withResolvers();
		added.resolve();
	}

	/** The events after the id `after`, by default from now on. Begins with `reload` if the log does not have them. */
	open(after: string | undefined): Response {
		if (this.#readers >= maxReaders) return new Response(`at most ${maxReaders} readers\n`, { status: 503 });
		this.#readers += 1;
		const reader = this.#readerAfter(after);
		const encoder = new TextEncoder();
		const stream = new ReadableStream<Uint8Array>(
			{
				// Called when the reader has taken the previous piece.
				pull: async (controller) => {
					const text = await this.#read(reader);
					if (!reader.closed) controller.enqueue(encoder.encode(text));
				},
				cancel: () => {
					reader.closed = true;
					this.#readers -= 1;
				},
			},
			{ highWaterMark: 0 },
		);
		return new Response(stream, {
			headers: {
				"Content-Type": "text/event-stream",
				"Cache-Control": "no-store",
				"X-Content-Type-Options": "nosniff",
			},
		});
	}

	#readerAfter(after: string | undefined): Reader {
		const next = this.#last + 1;
		const reader = { next, reload: undefined, greeted: false, closed: false };
		if (after === undefined) return reader;
		const [, name, number = ""] = idPattern.exec(after) ?? [];
		if (name !== this.#name || Number(number) > this.#last)
			return { ...reader, reload: "The simulator was restarted." };
		return { ...reader, next: Number(number) + 1 };
	}

	async #read(reader: Reader): Promise<string> {
		if (!reader.greeted) {
			reader.greeted = true;
			const id = this.#id(reader.next - 1);
			return `retry: ${reconnectMs}\n${frameOf(id, "hello", {})}`;
		}
		if (reader.reload === undefined && reader.next < this.#first) reader.reload = "Some events are no longer kept.";
		if (reader.reload !== undefined) {
			const { reload: reason } = reader;
			Object.assign(reader, { next: this.#last + 1, reload: undefined });
			return frameOf(this.lastId, "reload", { reason });
		}
		const texts: string[] = [];
		for (let length = 0; length < batchLength; reader.next += 1) {
			const frame = this.#frames[reader.next - this.#first];
			if (frame === undefined) break;
			texts.push(frame);
			length += frame.length;
		}
		if (texts.length > 0) return texts.join("");
		return (await this.#isQuiet()) ? ": no new events\n\n" : this.#read(reader);
	}

	async #isQuiet(): Promise<boolean> {
		const quiet = Promise.withResolvers<true>();
		const timer = setTimeout(() => quiet.resolve(true), this.heartbeatMs);
		timer.unref();
		const added = this.#added.promise.then(() => false);
		const isQuiet = await Promise.race([added, quiet.promise]);
		clearTimeout(timer);
		return isQuiet;
	}
}

function frameOf(id: string, event: string, data: unknown): string {
	// JSON text has no line breaks.
	return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data, cut)}\n\n`;
}

function cut(_key: string, value: unknown): unknown {
	return typeof value === "string" && value.length > longestString ? `${value.slice(0, longestString)}…` : value;
}
