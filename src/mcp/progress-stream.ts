// Sends progress notifications and then the response in one event stream.

import { eventBytes, sseHeaders } from "./http-response.ts";
import { isObject, type RpcRequest } from "./json-rpc.ts";
import type { RpcResponse } from "./server.ts";
import { encodeMessage } from "./sse.ts";

/** Function that sends the client a notification (JSON text) before the response to its request. */
export type Notify = (notification: string) => void;

export function wantsProgress({ method, params }: RpcRequest): boolean {
	return method === "tools/call" && isObject(params._meta) && params._meta.progressToken !== undefined;
}

/**
 * Runs `work`, which handles an MCP request. If `work` sends notifications, resolves with an event stream of these
 * notifications and then the response, if there is one. Otherwise resolves with `finish(response)`.
 */
export function streamResponse<Outcome extends RpcResponse | undefined>(
	work: (notify: Notify) => Promise<Outcome>,
	finish: (response: Outcome) => Response,
): Promise<Response> {
	const { promise, resolve, reject } = Promise.withResolvers<Response>();
	let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
	let isOpen = true;
	const send = (bytes: Uint8Array) => {
		if (isOpen) controller?.enqueue(bytes);
	};
	const begin = () => {
		const body = new ReadableStream<Uint8Array>({
			start(given) {
				controller = given;
			},
			cancel() {
				isOpen = false;
			},
		});
		resolve(new Response(body, { headers: sseHeaders }));
	};
	work((notification) => {
		if (!controller) begin();
		send(Buffer.from(encodeMessage(notification)));
	}).then((response) => {
		if (!controller) return resolve(finish(response));
		if (response) send(eventBytes(response));
		if (!isOpen) return;
		// A cancelled tool may still report progress.
		isOpen = false;
		controller.close();
	}, reject);
	return promise;
}
