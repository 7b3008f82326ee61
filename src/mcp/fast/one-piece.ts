import { fastPaths } from "./switch.ts";

/** Above this Bun sends what it gets after an `await` in pieces of 2 KB, with a system call each; a stream it does not. */
const maxPlainBytes = 15_000;

/** A response body that is sent in one piece. */
export function inOnePiece(bytes: Uint8Array): Uint8Array | ReadableStream {
	if (!fastPaths || bytes.length <= maxPlainBytes) return bytes;
	return new ReadableStream({
		start(controller) {
			controller.enqueue(bytes);
			controller.close();
		},
	});
}
