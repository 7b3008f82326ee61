// Buffered lines: those of one turn of the event loop are written with one system call.

/** Returns a function that passes lines to `write`, joined by line breaks. The buffer is flushed at process exit. */
export function createLineWriter(
	write: (text: string) => void,
): (line: string) => void {
	let buffered = "";
	const flush = () => {
		if (buffered === "") return;
		const text = buffered;
		buffered = "";
		write(text);
	};
	process.on("exit", flush);
	return (line) => {
		if (buffered === "") {
			buffered = line;
			setImmediate(flush);
		} else buffered += `\n${line}`;
	};
}
