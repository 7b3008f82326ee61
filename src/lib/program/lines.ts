// Reads the output of child processes line by line.

const maxLength = 256 * 1024;

/** Also an incomplete last line. Cuts lines after 256 Ki characters. Resolves at the end of the stream. */
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
