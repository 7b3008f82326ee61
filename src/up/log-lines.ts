// Converts the log lines of the programs that `up` runs to lines of its own log: JSON with the field "program", or
// text.

import { type Level, levels, textLine } from "../lib/log.ts";
import { escapeBreaks, escapeInJson } from "../lib/text.ts";

export interface LogLine {
	/** An instance's name, "gateway" or "up". */
	program: string;
	time: string;
	level: Level;
	message: string;
	fields: Record<string, unknown>;
}

/** A line in another format becomes an error with the line in `text`, and `time`. */
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

/** For a line in another format, such as one on stderr. */
export function unexpectedLine(program: string, text: string, time: string): LogLine {
	const message = "unexpected output of a program";
	return { program, time, level: "error", message, fields: { text } };
}

export function isShown({ level }: LogLine, lowest: Level): boolean {
	return levels.indexOf(level) >= levels.indexOf(lowest);
}

export function toJson({ program, fields, ...line }: LogLine): string {
	const { time, level, message } = line;
	return escapeInJson(JSON.stringify({ time, level, message, ...fields, program }));
}

/** Without colours and control characters. Fields of several lines, such as stacks, follow. */
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

const maxKept = 200;
const maxKeptLength = 2_000;

/** Keeps the last lines of each program. */
export function keepLine(kept: Map<string, string[]>, line: LogLine): void {
	const lines = kept.get(line.program) ?? [];
	if (lines.push(toText(line).slice(0, maxKeptLength)) > maxKept) lines.shift();
	kept.set(line.program, lines);
}
