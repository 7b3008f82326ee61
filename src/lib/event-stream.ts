// One event stream (server-sent events) to a client. The buffer for a slow one is limited.
// https://html.spec.whatwg.org/multipage/server-sent-events.html

/** `data` is written as JSON, which has no line breaks. */
export function eventText(name: string, data: unknown, replace?: (key: string, value: unknown) => unknown): string {
	return `event: ${name}\ndata: ${JSON.stringify(data, replace)}\n\n`;
}

export type EventStream = ReturnType<typeof openEventStream>;

/** `onClosed` is called once, when either side closes the stream. */
export function openEventStream(
	headers: Readonly<Record<string, string>>,
	maxWaitingBytes: number,
	onClosed = () => {},
) {
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

	/** Whole events. */
	const send = (events: string | Uint8Array) => controller?.enqueue(Buffer.from(events));

	/** After what was sent. */
	function close(): void {
		controller?.close();
		forget();
	}

	return {
		response: new Response(body, { headers }),
		/** The buffer has room. */
		get isReady() {
			return (controller?.desiredSize ?? 0) > 0;
		},
		send,
		close,
		/** After a last event "end". */
		end(reason: string): void {
			send(eventText("end", { reason }));
			close();
		},
		/** At once, discarding the buffer. */
		drop(): void {
			controller?.error(new Error("the reader is too slow"));
			forget();
		},
	};
}
