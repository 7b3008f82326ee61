// Log lines: one event, one line, on stdout. Text on a terminal, JSON otherwise.
// Callers pass facts as fields; tokens, codes and message texts are never among them.

/** Facts beside a message. An Error is written with its stack and its causes. */
export type Fields = Record<string, unknown>;

type Level = "info" | "warn" | "error";

export type Log = Record<Level, (message: string, fields?: Fields) => void>;

/** A log that writes to `write`, one call a line (without the line break). */
export function createLog(
	format: "text" | "json" = process.stdout.isTTY ? "text" : "json",
	write: (line: string) => void = console.log,
): Log {
	const encode = format === "json" ? jsonLine : textLine;
	const at = (level: Level) => (message: string, fields?: Fields) =>
		write(encode(new Date().toISOString(), level, message, fields ?? {}));
	return { info: at("info"), warn: at("warn"), error: at("error") };
}

function jsonLine(time: string, level: Level, message: string, fields: Fields) {
	const plain = mapValues(fields, (value) =>
		value instanceof Error ? describe(value) : value,
	);
	return JSON.stringify({ time, level, message, ...plain });
}

function textLine(time: string, level: Level, message: string, fields: Fields) {
	const facts = Object.entries(fields).map(([name, value]) =>
		value instanceof Error
			? `\n${describe(value).split("\n").map(visible).join("\n")}`
			: ` ${name}=${visible(JSON.stringify(value) ?? "undefined")}`,
	);
	return `${time.slice(11, 19)} ${level.toUpperCase().padEnd(5)} ${visible(message)}${facts.join("")}`;
}

/** A message may quote the world outside: what would end its line, or command a terminal, is escaped. */
function visible(text: string): string {
	return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, (character) =>
		character === "\n"
			? "\\n"
			: `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
	);
}

/** An error's stack, followed by the stacks of its causes. */
function describe(error: Error): string {
	const own = error.stack ?? `${error.name}: ${error.message}`;
	return error.cause instanceof Error
		? `${own}\ncaused by: ${describe(error.cause)}`
		: own;
}

function mapValues(fields: Fields, change: (value: unknown) => unknown) {
	return Object.fromEntries(
		Object.entries(fields).map(([name, value]) => [name, change(value)]),
	);
}
