// A program of ours as a child process: started, listened to, ended.

import { join } from "node:path";

/** Where src/ is. */
const source = join(import.meta.dir, "..");
/** How long a child may take to end by itself: three in a row stay within the 2 s that the demo promises. */
const graceMs = 500;

export interface Child extends AsyncDisposable {
	name: string;
	/** Where it listens. */
	url: string;
	/** Its exit code, when it has ended. */
	exited: Promise<number>;
}

export interface ChildOptions {
	/** What to call it when something is said about it. */
	name: string;
	/** Its main file, below src/. */
	main: string;
	/** All of its environment: nothing else is passed on. */
	env: Record<string, string>;
	/** Is given every warning and error that it logs, one line each. */
	onTrouble(line: string): void;
}

/** A log line, as far as it matters here. */
interface LogLine {
	level: string;
	message: string;
	url?: string;
	/** Why, in a few words or with a stack. */
	reason?: string;
	error?: string;
}

/**
 * Starts a program and resolves when it says where it listens; rejects with what it said when it ends before. It ends
 * when we do, however we end: it watches its stdin.
 */
export async function startChild(options: ChildOptions): Promise<Child> {
	const { name, onTrouble } = options;
	const child = Bun.spawn([process.execPath, join(source, options.main)], {
		env: { ...options.env, STOP_WITH_STDIN: "1" },
		// In a process group of its own: Ctrl-C reaches us, and we end our children in order.
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
	const said: string[] = [];
	void eachLine(child.stderr, (text) => {
		said.push(text);
		onTrouble(`${name}: ${text}`);
	});
	void child.exited.then((code) =>
		listening.reject(
			new Error([`${name} ended with exit code ${code}`, ...said].join("\n  ")),
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

/** Calls `take` with each line of a stream; the last one may lack its line break. Resolves when the stream has ended. */
export async function eachLine(
	stream: ReadableStream<Uint8Array>,
	take: (line: string) => void,
): Promise<void> {
	const decoder = new TextDecoder();
	let rest = "";
	for await (const chunk of stream) {
		const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
		rest = lines.pop() ?? "";
		for (const line of lines) take(line);
	}
	if (rest) take(rest);
}

/** Programs log JSON when nobody watches; anything else on stdout is trouble. */
function readLog(text: string): LogLine {
	try {
		return JSON.parse(text);
	} catch {
		return { level: "error", message: text };
	}
}
