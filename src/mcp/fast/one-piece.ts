import { fastPaths } from "./switch.ts";

/** Bun sends a larger body that is ready only after an `await` in pieces of 2 KB, with a system call each; not so a stream. */
const maxPlainBytes = 15_000;

/** Returns a response body that Bun sends in one piece. */
export function inOnePiece(bytes: Uint8Array): Uint8Array | ReadableStream {
	if (!fastPaths || bytes.length <= maxPlainBytes) return bytes;
	return new ReadableStream({
		start(controller) {
			controller.enqueue(bytes);
			controller.close();
		},
	});
}
