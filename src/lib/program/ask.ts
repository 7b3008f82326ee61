// Questions to the operator on the terminal.

import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";

/** Yes or no; false without asking if stdin is not a terminal. */
export async function askOnTerminal(question: string): Promise<boolean> {
	if (!process.stdin.isTTY) return false;
	const terminal = createInterface({ input: process.stdin, output: process.stderr });
	try {
		// Ctrl-C and Ctrl-D reject the promise.
		return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `).catch(() => "")).trim());
	} finally {
		terminal.close();
	}
}

/** Typed without echo. Trimmed; undefined after Ctrl-C or Ctrl-D and if stdin is not a terminal. */
export async function askSecret(question: string): Promise<string | undefined> {
	if (!process.stdin.isTTY) return undefined;
	const terminal = createInterface({
		input: process.stdin,
		// readline echoes what is typed to this stream, which discards it.
		output: new Writable({ write: (_chunk, _encoding, done) => done() }),
		terminal: true,
		historySize: 0,
	});
	try {
		// readline has switched off the terminal's own echo at this point.
		process.stderr.write(question);
		return (await terminal.question("").catch(() => undefined))?.trim();
	} finally {
		terminal.close();
		process.stderr.write("\n");
	}
}
