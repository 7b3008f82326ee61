// Log lines: one event, one line, on stdout. Text on a terminal, JSON otherwise.
// Callers pass facts as fields; tokens, codes and message texts are never among them.

import * as v from "valibot";
import { escapeBreaks, escapeInJson } from "./text.ts";

/** Facts beside a message, none of them called time, level or message. An Error is written with its stack and its causes. */
export type Fields = Record<string, unknown>;

const formats = ["text", "json"] as const;

/** From what only a developer wants to know, to what an operator must. */
const levels = ["debug", "info", "warn", "error"] as const;

type Level = (typeof levels)[number];

export type Log = Record<Level, (message: string, fields?: Fields) => void>;

export interface LogOptions {
	format: (typeof formats)[number];
	/** What is below it is not written. */
	level: Level;
}

/** What an environment may say about the log: entries of its schema, for `readLogOptions`. */
export const logSettings = {
	LOG_FORMAT: v.pipe(
		v.optional(v.picklist(formats)),
		v.description(`Format of log lines: ${formats.join(", ")}`),
		v.metadata({ default: "text on a terminal, json otherwise" }),
	),
	LOG_LEVEL: v.pipe(
		v.optional(v.picklist(levels), "info"),
		v.description(`Lowest level to log: ${levels.join(", ")}`),
	),
};

/** A log's options from settings that were read with `logSettings`. */
export function readLogOptions(settings: {
	LOG_FORMAT?: LogOptions["format"] | undefined;
	LOG_LEVEL: Level;
}): LogOptions {
	return {
		format: settings.LOG_FORMAT ?? (process.stdout.isTTY ? "text" : "json"),
		level: settings.LOG_LEVEL,
	};
}

/** The log of a program that was told nothing about it. */
export function defaultLogOptions(): LogOptions {
	return readLogOptions({ LOG_LEVEL: "info" });
}

/** A log that writes to `write`, one call a line (without the line break). */
export function createLog(
	{ format, level: lowest }: LogOptions,
	write: (line: string) => void = console.log,
): Log {
	const encode = format === "json" ? jsonLine : textLine;
	const at = (level: Level): Log[Level] =>
		levels.indexOf(level) < levels.indexOf(lowest)
			? () => {}
			: (message, fields = {}) =>
					write(encode(timeText(), level, message, fields));
	return {
		debug: at("debug"),
		info: at("info"),
		warn: at("warn"),
		error: at("error"),
	};
}

let lastMs = Number.NaN;
let lastTime = "";

/** The time as ISO 8601 has it. Under load many lines are of one millisecond: making it anew for each is a third of a line's cost. */
function timeText(): string {
	const ms = Date.now();
	if (ms !== lastMs) {
		lastMs = ms;
		lastTime = new Date(ms).toISOString();
	}
	return lastTime;
}

function jsonLine(time: string, level: Level, message: string, fields: Fields) {
	let facts = fields;
	for (const name in fields) {
		const value = fields[name];
		if (value instanceof Error) facts = { ...facts, [name]: describe(value) };
	}
	const rest = JSON.stringify(facts).slice(1);
	const comma = rest === "}" ? "" : ",";
	return escapeInJson(
		`{"time":"${time}","level":"${level}","message":${JSON.stringify(message)}${comma}${rest}`,
	);
}

function textLine(time: string, level: Level, message: string, fields: Fields) {
	const facts = Object.entries(fields).map(([name, value]) => {
		if (value instanceof Error)
			return `\n${describe(value).split("\n").map(escapeBreaks).join("\n")}`;
		// As in JSON, a fact that is undefined is none.
		const text = JSON.stringify(value);
		return text === undefined ? "" : ` ${name}=${escapeBreaks(text)}`;
	});
	return `${time.slice(11, 19)} ${level.toUpperCase().padEnd(5)} ${escapeBreaks(message)}${facts.join("")}`;
}

/** An error's stack, followed by the stacks of its causes. */
function describe(error: Error): string {
	const own = error.stack ?? `${error.name}: ${error.message}`;
	return error.cause instanceof Error
		? `${own}\ncaused by: ${describe(error.cause)}`
		: own;
}
