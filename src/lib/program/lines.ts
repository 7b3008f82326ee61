// Reads the output of child processes line by line.

const maxLength = 256 * 1024;

/**
 * Calls `onLine` with each line of a byte stream, including an incomplete last line. Passes on only the first 256 Ki
 * characters of a longer line. Resolves at the end of the stream.
 */
export async function eachLine(stream: ReadableStream<Uint8Array>, onLine: (line: string) => void): Promise<void> {
	const decoder = new TextDecoder();
	let rest = "";
	for await (const chunk of stream) {
		const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
		rest = lines.pop()?.slice(0, maxLength) ?? "";
		for (const line of lines) onLine(line.slice(0, maxLength));
	}
	if (rest) onLine(rest);
}
