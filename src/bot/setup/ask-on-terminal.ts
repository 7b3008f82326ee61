// Asks the operator a question on the terminal.

import { createInterface } from "node:readline/promises";

/** Resolves with whether the operator answers yes. False if stdin is not a terminal. */
export async function askOnTerminal(question: string): Promise<boolean> {
	if (!process.stdin.isTTY) return false;
	const terminal = createInterface({
		input: process.stdin,
		output: process.stderr,
	});
	try {
		// Ctrl-C and Ctrl-D reject.
		const answer = await terminal
			.question(`${question} [y/N] `)
			.catch(() => "");
		return /^y(es)?$/i.test(answer.trim());
	} finally {
		terminal.close();
	}
}
