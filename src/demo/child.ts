// Runs the gateway or a bot as a child process.

import { join } from "node:path";

const source = join(import.meta.dir, "..");
/** Time for a child to shut down. The demo stops three, one after another, and promises to stop within 2 s. */
const graceMs = 500;

export interface Child extends AsyncDisposable {
	name: string;
	/** The URL at which the child listens. */
	url: string;
	/** Resolves with the exit code of the child. */
	exited: Promise<number>;
}

export interface ChildOptions {
	name: string;
	/** Path of its entry point, relative to src/. */
	main: string;
	/** The whole environment of the child. */
	env: Record<string, string>;
	/** Called with one line for each warning and error that the child logs. */
	onTrouble(line: string): void;
}

/** The parts of a log line of the child that are read. */
interface LogLine {
	level: string;
	message: string;
	url?: string;
	/** Why, in a warning. */
	reason?: string;
	error?: string;
}

/**
 * Starts a child and resolves when it logs its URL. Rejects with its stderr if it ends before. The child also ends when
 * this process ends or is killed, since it watches its stdin.
 */
export async function startChild(options: ChildOptions): Promise<Child> {
	const { name, onTrouble } = options;
	const child = Bun.spawn([process.execPath, join(source, options.main)], {
		env: { ...options.env, STOP_WITH_STDIN: "1" },
		// In a process group of its own, so that Ctrl-C reaches only the demo, which ends its children in order.
		detached: true,
		stdin: "pipe",
		stdout: "pipe",
		stderr: "pipe",
	});
	const listening = Promise.withResolvers<string>();
	void eachLine(child.stdout, (text) => {
		const line = readLog(text);
		if (line.url) listening.resolve(line.url);
		const words = [name, line.message, line.reason ?? line.error];
		if (line.level !== "info") onTrouble(words.filter(Boolean).join(": "));
	});
	const errors: string[] = [];
	void eachLine(child.stderr, (text) => {
		errors.push(text);
		onTrouble(`${name}: ${text}`);
	});
	void child.exited.then((code) => {
		const lines = [`${name} ended with exit code ${code}`, ...errors];
		listening.reject(new Error(lines.join("\n  ")));
	});
	return {
		name,
		url: await listening.promise,
		exited: child.exited,
		async [Symbol.asyncDispose]() {
			child.kill("SIGTERM");
			const kill = setTimeout(() => child.kill("SIGKILL"), graceMs);
			await child.exited;
			clearTimeout(kill);
		},
	};
}

/** Calls `onLine` with each line of a stream, including an incomplete last one. Resolves at the end of the stream. */
export async function eachLine(
	stream: ReadableStream<Uint8Array>,
	onLine: (line: string) => void,
): Promise<void> {
	const decoder = new TextDecoder();
	let rest = "";
	for await (const chunk of stream) {
		const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
		rest = lines.pop() ?? "";
		for (const line of lines) onLine(line);
	}
	if (rest) onLine(rest);
}

/** Parses a line that a child wrote to stdout. Without a terminal children log JSON; any other line is taken for an error. */
function readLog(text: string): LogLine {
	try {
		return JSON.parse(text);
	} catch {
		return { level: "error", message: text };
	}
}
