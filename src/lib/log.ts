// Writes log lines: one event, one line, on stdout. Text on a terminal, JSON otherwise. Details are fields. Never log
// tokens, codes or message texts.

import * as v from "valibot";
import { escapeBreaks, escapeInJson } from "./text.ts";

/** Fields of a log line, other than time, level and message. An Error is written with its stack and causes. */
export type Fields = Record<string, unknown>;

const formats = ["text", "json"] as const;

export const levels = ["debug", "info", "warn", "error"] as const;

export type Level = (typeof levels)[number];

export type Log = Record<Level, (message: string, fields?: Fields) => void>;

export interface LogOptions {
	format: (typeof formats)[number];
	level: Level;
}

export const logSettings = {
	LOG_FORMAT: v.pipe(
		v.optional(v.picklist(formats)),
		v.description(`Format of log lines: ${formats.join(", ")}`),
		v.metadata({ default: "text on a terminal, json otherwise" }),
	),
	LOG_LEVEL: v.pipe(v.optional(v.picklist(levels), "info"), v.description(`Lowest level to log: ${levels.join(", ")}`)),
};

export function readLogOptions({
	LOG_FORMAT = process.stdout.isTTY ? "text" : "json",
	LOG_LEVEL,
}: v.InferOutput<v.ObjectSchema<typeof logSettings, undefined>>): LogOptions {
	return { format: LOG_FORMAT, level: LOG_LEVEL };
}

export function defaultLogOptions(): LogOptions {
	return readLogOptions({ LOG_LEVEL: "info" });
}

/** `write` receives lines without a line break. */
export function createLog({ format, level: lowest }: LogOptions, write: (line: string) => void = console.log): Log {
	const encode = format === "json" ? jsonLine : textLine;
	const at = (level: Level): Log[Level] =>
		levels.indexOf(level) < levels.indexOf(lowest)
			? () => {}
			: (message, fields = {}) => write(encode(timeText(), level, message, fields));
	return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

export const silentLog: Log = createLog({ format: "text", level: "error" }, () => {});

let lastMs = Number.NaN;
let lastTime = "";

function timeText(): string {
	const ms = Date.now();
	if (ms !== lastMs) {
		lastMs = ms;
		lastTime = new Date(ms).toISOString();
	}
	return lastTime;
}

function jsonLine(time: string, level: Level, message: string, fields: Fields) {
	let written = fields;
	for (const name in fields) {
		const value = fields[name];
		if (value instanceof Error) written = { ...written, [name]: describe(value) };
	}
	const rest = JSON.stringify(written).slice(1);
	const comma = rest === "}" ? "" : ",";
	return escapeInJson(`{"time":"${time}","level":"${level}","message":${JSON.stringify(message)}${comma}${rest}`);
}

/** For people: control and invisible characters are escaped. */
export function textLine(time: string, level: Level, message: string, fields: Fields): string {
	const written = Object.entries(fields).map(([name, value]) => {
		if (value instanceof Error) return `\n${describe(value).split("\n").map(escapeBreaks).join("\n")}`;
		// Undefined fields are left out, as in JSON.
		const text = JSON.stringify(value);
		return text === undefined ? "" : ` ${name}=${escapeBreaks(text)}`;
	});
	return `${time.slice(11, 19)} ${level.toUpperCase().padEnd(5)} ${escapeBreaks(message)}${written.join("")}`;
}

function describe(error: Error): string {
	const own = error.stack ?? `${error.name}: ${error.message}`;
	return error.cause instanceof Error ? `${own}\ncaused by: ${describe(error.cause)}` : own;
}

/** One `write` for the lines of a turn of the event loop, joined by line breaks; the rest at process exit. */
export function createLineWriter(write: (text: string) => void): (line: string) => void {
	let buffered = "";
	const flush = () => {
		if (buffered === "") return;
		const text = buffered;
		buffered = "";
		write(text);
	};
	process.on("exit", flush);
	return (line) => {
		if (buffered === "") {
			buffered = line;
			setImmediate(flush);
		} else buffered += `\n${line}`;
	};
}
