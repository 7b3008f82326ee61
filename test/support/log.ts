// A log that remembers its lines.

import { createLog, type Log } from "../../src/lib/log.ts";

export interface RecordedLog {
	log: Log;
	/** The lines so far, as JSON text. */
	lines: string[];
	/** What was said so far: the messages alone. */
	messages(): string[];
}

export function recordLog(): RecordedLog {
	const lines: string[] = [];
	return {
		log: createLog("json", (line) => lines.push(line)),
		lines,
		messages: () => lines.map((line) => JSON.parse(line).message),
	};
}
