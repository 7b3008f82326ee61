// Converts the log lines of the programs that `up` runs to lines of its own log: JSON with the field "program", or
// text.

import { type Level, levels, textLine } from "../lib/log.ts";
import { escapeBreaks, escapeInJson } from "../lib/text.ts";

/** A log line of a program. */
export interface LogLine {
	/** The program that wrote the line: an instance's name, "gateway" or "up". */
	program: string;
	time: string;
	level: Level;
	message: string;
	/** The other fields of the line. */
	fields: Record<string, unknown>;
}

/**
 * Parses a line that a program wrote. Converts a line that is not in the JSON format of our logs to an error with the
 * line in the field `text` and with `time`.
 */
export function parseLine(program: string, line: string, time: string): LogLine {
	try {
		const { time, level, message, ...fields } = JSON.parse(line);
		if (levels.includes(level) && typeof message === "string" && typeof time === "string" && /^[\d:.TZ+-]+$/.test(time))
			return { program, time, level, message, fields };
	} catch {
		// Bun or the system wrote the line, such as the stack trace of a crash.
	}
	return unexpectedLine(program, line, time);
}

/** Returns an error log line for a line that is not in the format of our logs, such as one on stderr. */
export function unexpectedLine(program: string, text: string, time: string): LogLine {
	const message = "unexpected output of a program";
	return { program, time, level: "error", message, fields: { text } };
}

/** Whether to show a line if `lowest` is the lowest level to show. */
export function isShown({ level }: LogLine, lowest: Level): boolean {
	return levels.indexOf(level) >= levels.indexOf(lowest);
}

/** Returns the line as one line of JSON. */
export function toJson({ program, fields, ...line }: LogLine): string {
	const { time, level, message } = line;
	return escapeInJson(JSON.stringify({ time, level, message, ...fields, program }));
}

/**
 * Returns the line as text without colours and without control characters. A field of several lines, such as the stack
 * of an error, follows on separate lines.
 */
export function toText({ program, time, level, message, fields }: LogLine): string {
	const short: Record<string, unknown> = {};
	let long = "";
	for (const [name, value] of Object.entries(fields)) {
		if (typeof value === "string" && value.includes("\n"))
			for (const line of value.split("\n")) long += `\n  ${escapeBreaks(line)}`;
		else short[escapeBreaks(name)] = value;
	}
	return textLine(time, level, `${program}: ${message}`, short) + long;
}
