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
		const texts = this.#follow(after);
		const encoder = new TextEncoder();
		let isClosed = false;
		const stream = new ReadableStream<Uint8Array>(
			{
				// Called when the reader has taken the previous piece.
				pull: async (controller) => {
					const { value } = await texts.next();
					if (!isClosed) controller.enqueue(encoder.encode(value));
				},
				cancel: () => {
					isClosed = true;
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

	/** Never ends. */
	async *#follow(after: string | undefined): AsyncGenerator<string, never> {
		const known = this.#numberOf(after);
		let next = (known ?? this.#last) + 1;
		const reload = (reason: string) => {
			next = this.#last + 1;
			return frameOf(this.lastId, "reload", { reason });
		};
		yield `retry: ${reconnectMs}\n${frameOf(this.#id(next - 1), "hello", {})}`;
		if (known === undefined) yield reload("The simulator was restarted.");
		for (;;) {
			// A slow reader may have missed some again during the `yield`.
			if (next < this.#first) {
				yield reload("Some events are no longer kept.");
				continue;
			}
			let text = "";
			for (const frame of this.#frames.slice(next - this.#first)) {
				if (text.length >= batchLength) break;
				text += frame;
				next += 1;
			}
			if (text !== "") yield text;
			else if (await this.#isQuiet()) yield ": no new events\n\n";
		}
	}

	/** By default that of the latest event; undefined for the id of another log. */
	#numberOf(id = this.lastId): number | undefined {
		const [, name, number = ""] = idPattern.exec(id) ?? [];
		return name === this.#name && Number(number) <= this.#last ? Number(number) : undefined;
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
