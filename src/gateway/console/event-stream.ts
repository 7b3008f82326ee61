// One event stream (server-sent events) to a browser. The buffer for a slow browser is limited.
// https://html.spec.whatwg.org/multipage/server-sent-events.html

import { sseHeaders } from "../../mcp/http-response.ts";
import { securityHeaders } from "../../pages/static-files.ts";

const maxWaitingBytes = 256 * 1024;

const headers = {
	...securityHeaders,
	...sseHeaders,
	"Cache-Control": "no-store",
};

/** Why the gateway ends an event stream. */
export type EndReason = "signed_out" | "expired" | "stopping" | "slow";

/** An open event stream to one browser. */
export interface EventStream {
	response: Response;
	/** Whether the buffer has room, so that more may be sent. */
	readonly isReady: boolean;
	/** Sends events: text that `eventText` has returned. */
	send(text: string): void;
	/** Ends the stream with an event that says why. */
	end(reason: EndReason): void;
	/** Closes the stream at once and discards what is in its buffer. */
	drop(): void;
}

/** Returns an event in the format of server-sent events. `data` is written as JSON, which has no line breaks. */
export function eventText(name: string, data: unknown): string {
	return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** A comment in the stream. It keeps the connection from being idle. */
export const heartbeat = ":\n\n";

/** Opens an event stream. Calls `onClosed` once, when the browser or the gateway has closed the stream. */
export function openEventStream(onClosed: () => void): EventStream {
	let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
	const body = new ReadableStream<Uint8Array>(
		{
			start(given) {
				controller = given;
			},
			cancel: close,
		},
		new ByteLengthQueuingStrategy({ highWaterMark: maxWaitingBytes }),
	);

	function close(): void {
		if (!controller) return;
		controller = undefined;
		onClosed();
	}

	return {
		response: new Response(body, { headers }),
		get isReady() {
			return (controller?.desiredSize ?? 0) > 0;
		},
		send: (text) => controller?.enqueue(Buffer.from(text)),
		end(reason) {
			controller?.enqueue(Buffer.from(eventText("end", { reason })));
			controller?.close();
			close();
		},
		drop() {
			controller?.error(new Error("the reader is too slow"));
			close();
		},
	};
}
