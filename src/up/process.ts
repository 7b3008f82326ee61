// Starts a program of Guildhall as a child process, which ends when this process ends.

import { commandOf } from "../lib/program/launch.ts";
import { eachLine } from "../lib/program/lines.ts";
import { cacheEnvironment } from "./environment.ts";
import { parseLine } from "./log-lines.ts";

export interface Exit {
	/** Undefined after a signal. */
	code: number | undefined;
	signal: string | undefined;
	/** First lines on stderr before it listened, otherwise from the log line about the error that ended it; or empty. */
	reason: string;
}

export interface ChildProcess {
	pid: number;
	/** The URL; never settles if the program ends before. */
	listening: Promise<string>;
	exited: Promise<Exit>;
	kill(signal: "SIGTERM" | "SIGKILL"): void;
}

interface ChildOptions {
	/** Such as "bot". */
	program: string;
	/** Default: empty. */
	args?: readonly string[];
	/** With those of `cacheEnvironment`; no others are inherited. */
	env: Record<string, string>;
	/** Lines on stdout. */
	onLine?(line: string): void;
	/** Lines on stderr after it listens. */
	onErrorLine?(line: string): void;
}

const maxReasonLines = 40;
const endMessage = "program is stopping because of an error";

/** Throws if the operating system cannot start the process. */
export function startChildProcess(options: ChildOptions): ChildProcess {
	const command = [...commandOf(options.program), ...(options.args ?? [])];
	const child = Bun.spawn(command, {
		env: { ...cacheEnvironment(process.env), ...options.env },
		// The child has its own process group, so that Ctrl-C reaches only `up`, which then ends its children in order.
		detached: true,
		// When this process ends, the pipe closes, and the child ends, too (STOP_WITH_STDIN).
		stdin: "pipe",
		stdout: "pipe",
		stderr: "pipe",
	});
	const listening = Promise.withResolvers<string>();
	let isListening = false;
	const reason: string[] = [];
	let logged = "";
	const out = eachLine(child.stdout, (line) => {
		options.onLine?.(line);
		logged = endReasonIn(line) ?? logged;
		if (isListening) return;
		const url = urlIn(line);
		if (url === undefined) return;
		isListening = true;
		// Once the program listens, earlier lines on stderr are not the reason of its end.
		for (const line of reason.splice(0)) options.onErrorLine?.(line);
		listening.resolve(url);
	});
	const errors = eachLine(child.stderr, (line) => {
		if (isListening) options.onErrorLine?.(line);
		else if (reason.length < maxReasonLines) reason.push(line);
	});
	return { pid: child.pid, listening: listening.promise, exited: exit(), kill: (signal) => child.kill(signal) };

	async function exit(): Promise<Exit> {
		await Promise.allSettled([out, errors, child.exited]);
		return {
			code: child.exitCode ?? undefined,
			signal: child.signalCode === null ? undefined : String(child.signalCode),
			reason: reason.join("\n") || logged,
		};
	}
}

function urlIn(line: string): string | undefined {
	const [, url] = /"message":"[^"]* listening[^"]*","url":"(http:[^"\\]+)"/.exec(line) ?? [];
	return url;
}

/** Returns the reason in the log line that a program writes before an error ends it; undefined for other lines. */
export function endReasonIn(line: string): string | undefined {
	// Most lines need no parsing.
	if (!line.includes(`"message":"${endMessage}"`)) return undefined;
	const { message, fields } = parseLine("", line, "");
	return message === endMessage && typeof fields.reason === "string" ? fields.reason : undefined;
}
