// Runs the gateway or a bot as a child process.

import { commandOf } from "../lib/program/launch.ts";
import { eachLine } from "../lib/program/lines.ts";

const graceMs = 500;

export interface Child extends AsyncDisposable {
	name: string;
	url: string;
	/** Resolves with the exit code. */
	exited: Promise<number>;
}

export interface ChildOptions {
	name: string;
	program: "bot" | "gateway";
	/** None are inherited. */
	env: Record<string, string>;
	/** A line for each warning and error in the log. */
	onTrouble(line: string): void;
}

interface LogLine {
	level: string;
	message: string;
	url?: string;
	reason?: string;
	error?: string;
}

/** Resolves when it listens; rejects with its stderr if it ends before. It ends with this process. */
export async function startChild(options: ChildOptions): Promise<Child> {
	const { name, onTrouble } = options;
	const child = Bun.spawn(commandOf(options.program), {
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

function readLog(text: string): LogLine {
	try {
		return JSON.parse(text);
	} catch {
		return { level: "error", message: text };
	}
}
