// Lines for a stream that costs a system call to write to: those of one turn of the event loop go together.

/** Writes lines with `write`, the line breaks between them included; what is still held is written when the process ends. */
export function createLineWriter(
	write: (text: string) => void,
): (line: string) => void {
	let held = "";
	const flush = () => {
		if (held === "") return;
		const text = held;
		held = "";
		write(text);
	};
	process.on("exit", flush);
	return (line) => {
		if (held === "") {
			held = line;
			setImmediate(flush);
		} else held += `\n${line}`;
	};
}
