import { usesFastPath } from "./switch.ts";

const isUsed = usesFastPath("one-piece");

/**
 * Length in bytes above which a response body is sent as a stream, because Bun sends a stream in one piece but other
 * long bodies in many small pieces.
 */
const maxPlainBytes = 15_000;

/** Wraps the bytes of an HTTP response body, if there are many, in a stream, so that Bun sends them in one piece. */
export function inOnePiece(bytes: Uint8Array): Uint8Array | ReadableStream {
	if (!isUsed || bytes.length <= maxPlainBytes) return bytes;
	return new ReadableStream({
		start(controller) {
			controller.enqueue(bytes);
			controller.close();
		},
	});
}
