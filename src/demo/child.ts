// Runs one of our programs as a child process.

import { join } from "node:path";

/** The path of src/. */
const source = join(import.meta.dir, "..");
/** Time for a child to shut down. Three in a row stay within the 2 s that the demo promises. */
const graceMs = 500;

export interface Child extends AsyncDisposable {
	name: string;
	/** The URL of its server. */
	url: string;
	/** Resolves with its exit code. */
	exited: Promise<number>;
}

export interface ChildOptions {
	/** Name for messages. */
	name: string;
	/** Path of its entry point in src/. */
	main: string;
	/** Its whole environment. */
	env: Record<string, string>;
	/** Called with a line for each warning and error it logs. */
	onTrouble(line: string): void;
}

/** The parts of a log line that are used here. */
interface LogLine {
	level: string;
	message: string;
	url?: string;
	/** The reason, perhaps with a stack. */
	reason?: string;
	error?: string;
}

/**
 * Starts a program and resolves when it logs its URL. Rejects with its stderr if it ends before. The child watches its stdin,
 * so it ends with this process, even if that is killed.
 */
export async function startChild(options: ChildOptions): Promise<Child> {
	const { name, onTrouble } = options;
	const child = Bun.spawn([process.execPath, join(source, options.main)], {
		env: { ...options.env, STOP_WITH_STDIN: "1" },
		// A separate process group, so that Ctrl-C reaches only us and the children end in order.
		detached: true,
		stdin: "pipe",
		stdout: "pipe",
		stderr: "pipe",
	});
	const listening = Promise.withResolvers<string>();
	void eachLine(child.stdout, (text) => {
		const line = readLog(text);
		if (line.url) listening.resolve(line.url);
		if (line.level !== "info")
			onTrouble(
				[name, line.message, line.reason ?? line.error]
					.filter(Boolean)
					.join(": "),
			);
	});
	const errors: string[] = [];
	void eachLine(child.stderr, (text) => {
		errors.push(text);
		onTrouble(`${name}: ${text}`);
	});
	void child.exited.then((code) =>
		listening.reject(
			new Error(
				[`${name} ended with exit code ${code}`, ...errors].join("\n  "),
			),
		),
	);
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

/** Calls `onLine` with each line of a stream, and resolves at its end. The last line may lack its line break. */
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

/** Programs log JSON without a terminal. Any other output is an error. */
function readLog(text: string): LogLine {
	try {
		return JSON.parse(text);
	} catch {
		return { level: "error", message: text };
	}
}
