// A log that records its lines.

import { createLog, type Log, type LogOptions } from "../../src/lib/log.ts";

export interface RecordedLog {
	log: Log;
	/** The lines so far, as JSON text. */
	lines: string[];
	/** The messages so far, without fields. */
	messages(): string[];
	/** The lines with this message, parsed. */
	entries(message: string): Record<string, unknown>[];
}

/** Records messages of `level` and above. */
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
