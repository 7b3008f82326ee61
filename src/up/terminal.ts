// Shows the log on a terminal: text with each program's name in a colour, above lines with the state of the programs.

import { styleText } from "node:util";
import { escapeBreaks } from "../lib/text.ts";
import { type LogLine, toText } from "./log-lines.ts";
import { colourOf, type ProgramStatus, shortState } from "./status.ts";

/** The properties of a terminal stream that are used. */
export interface Screen {
	write(text: string): unknown;
	/** Size of the terminal; undefined if it is unknown. */
	columns?: number;
	rows?: number;
}

const colours = ["cyan", "magenta", "blue", "green", "yellow"] as const;

const levelStyles = {
	debug: "gray",
	info: "reset",
	warn: "yellow",
	error: "red",
} as const;

const defaultColumns = 80;
const defaultRows = 24;
const logRows = 8;

type Style = Extract<Parameters<typeof styleText>[0], string>;

/** Writes log lines and the programs' state to a terminal. */
export class TerminalLog {
	readonly #screen: Screen;
	readonly #colourOf = new Map<string, (typeof colours)[number]>();
	#nameWidth = "gateway".length;
	#shown: string[] = [];
	#programs: readonly ProgramStatus[] = [];

	/** `hasState` is whether to show the state lines, for which the terminal must be able to move its cursor. */
	constructor(
		screen: Screen,
		private readonly options: { hasColours: boolean; hasState: boolean },
	) {
		this.#screen = screen;
	}

	/** Writes lines of the log above the state. */
	write(lines: readonly LogLine[]): void {
		const text = lines.map((line) => `${this.#format(line)}\n`).join("");
		this.#draw(text);
	}

	/** Shows the state of the programs below the log. Without programs, removes the state lines. */
	show(programs: readonly ProgramStatus[]): void {
		this.#programs = programs;
		const lines = this.#stateLines();
		if (lines.join("\n") !== this.#shown.join("\n")) this.#draw("");
	}

	/** Draws the state lines again after the terminal's size has changed. */
	redraw(): void {
		this.#draw("");
	}

	#draw(text: string): void {
		const { length } = this.#shown;
		// Moves the cursor to the start of the first state line and erases everything below it. The carriage return is for
		// keys that the terminal echoes, such as ^C: they leave the cursor in another column.
		const clear = length > 0 ? `\r\u001b[${length}A\u001b[J` : "";
		this.#shown = this.#stateLines();
		const state = this.#shown.map((line) => `${line}\n`).join("");
		if (clear || text || state) this.#screen.write(clear + text + state);
	}

	#stateLines(): string[] {
		if (!this.options.hasState || this.#programs.length === 0) return [];
		const { columns = defaultColumns, rows = defaultRows } = this.#screen;
		const most = Math.max(rows - logRows, 1);
		const programs = this.#programs.slice(0, most);
		const longest = Math.max(...programs.map(({ name }) => name.length));
		const width = Math.min(longest, Math.floor(columns / 2));
		const lines = programs.map((program) => {
			const { name } = program;
			const state = fit(shortState(program), columns - width - 3);
			const shown = fit(name, width).padEnd(width);
			return `${this.#named(name, shown)}  ${this.#style(colourOf(program), state)}`;
		});
		const more = this.#programs.length - programs.length;
		if (more > 0) lines.push(fit(`… and ${more} more: up status`, columns - 1));
		const rule = "─".repeat(Math.min(columns - 1, 60));
		return [this.#style("gray", rule), ...lines];
	}

	#format(line: LogLine): string {
		const { program, level } = line;
		// The text is like "12:34:56 INFO  message …".
		const text = toText(line);
		const message = text
			.slice(9)
			.split("\n")
			.map((part) => this.#style(levelStyles[level], part));
		const name = escapeBreaks(program);
		this.#nameWidth = Math.max(this.#nameWidth, name.length);
		const shown = this.#named(program, name.padEnd(this.#nameWidth));
		return `${text.slice(0, 9)}${shown} ${message.join("\n")}`;
	}

	#named(program: string, text: string): string {
		if (program === "up" || program === "gateway") return this.#style("bold", text);
		const known = this.#colourOf.get(program);
		const colour = known ?? colours[this.#colourOf.size % colours.length];
		if (!colour) return text;
		this.#colourOf.set(program, colour);
		return this.#style(colour, text);
	}

	#style(format: Style, text: string): string {
		return this.options.hasColours && format !== "reset" ? styleText(format, text, { validateStream: false }) : text;
	}
}

function fit(text: string, columns: number): string {
	let fitting = text.slice(0, Math.max(columns, 0));
	while (Bun.stringWidth(fitting) > columns && fitting !== "") fitting = fitting.slice(0, -1);
	return fitting;
}
