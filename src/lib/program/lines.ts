// Reads the output of child processes line by line.

const maxLength = 256 * 1024;

/** Ended by \n alone; also an incomplete last line. Cuts lines after `max` characters. Resolves at the end of the stream. */
export async function eachLine(stream: AsyncIterable<Uint8Array>, onLine: (line: string) => void, max = maxLength) {
	const decoder = new TextDecoder();
	let rest = "";
	for await (const chunk of stream) {
		const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
		rest = lines.pop()?.slice(0, max) ?? "";
		for (const line of lines) onLine(line.slice(0, max));
	}
	if (rest) onLine(rest);
}
