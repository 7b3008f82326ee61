// A log that remembers its lines.

import { createLog, type Log, type LogOptions } from "../../src/lib/log.ts";

export interface RecordedLog {
	log: Log;
	/** The lines so far, as JSON text. */
	lines: string[];
	/** What was said so far: the messages alone. */
	messages(): string[];
	/** The lines with this message, parsed. */
	entries(message: string): Record<string, unknown>[];
}

/** It records what is at least `level`. */
export function recordLog(level: LogOptions["level"] = "info"): RecordedLog {
	const lines: string[] = [];
	const parsed = () => lines.map((line) => JSON.parse(line));
	return {
		log: createLog({ format: "json", level }, (line) => lines.push(line)),
		lines,
		messages: () => parsed().map(({ message }) => message),
		entries: (message) => parsed().filter((line) => line.message === message),
	};
}
