// One event stream (server-sent events) to a client. The buffer for a slow one is limited.
// https://html.spec.whatwg.org/multipage/server-sent-events.html

export interface EventStream {
	response: Response;
	/** The buffer has room. */
	readonly isReady: boolean;
	/** Whole events. */
	send(events: string | Uint8Array): void;
	/** After what was sent. */
	close(): void;
	/** After a last event "end". */
	end(reason: string): void;
	/** At once, discarding the buffer. */
	drop(): void;
}

/** `data` is written as JSON, which has no line breaks. */
export function eventText(name: string, data: unknown, replace?: (key: string, value: unknown) => unknown): string {
	return `event: ${name}\ndata: ${JSON.stringify(data, replace)}\n\n`;
}

/** Keeps the connection from being idle. */
export const heartbeat = ":\n\n";

/** `onClosed` is called once, when either side closes the stream. */
export function openEventStream(
	headers: Readonly<Record<string, string>>,
	maxWaitingBytes: number,
	onClosed = () => {},
): EventStream {
	let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
	const body = new ReadableStream<Uint8Array>(
		{
			start(given) {
				controller = given;
			},
			cancel: forget,
		},
		new ByteLengthQueuingStrategy({ highWaterMark: maxWaitingBytes }),
	);

	function forget(): void {
		if (!controller) return;
		controller = undefined;
		onClosed();
	}

	return {
		response: new Response(body, { headers }),
		get isReady() {
			return (controller?.desiredSize ?? 0) > 0;
		},
		send: (events) => controller?.enqueue(Buffer.from(events)),
		close() {
			controller?.close();
			forget();
		},
		end(reason) {
			this.send(eventText("end", { reason }));
			this.close();
		},
		drop() {
			controller?.error(new Error("the reader is too slow"));
			forget();
		},
	};
}
