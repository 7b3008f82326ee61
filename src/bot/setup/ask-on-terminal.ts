// Asks the operator a question on the terminal.

import { createInterface } from "node:readline/promises";

/**
 * Asks the operator a yes-or-no question on the terminal. Resolves with true if the answer is yes. Resolves with false
 * otherwise, and without asking if stdin is not a terminal.
 */
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
