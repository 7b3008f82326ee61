import { expect, test } from "bun:test";
import { type LogLine, parseLine } from "../../src/up/log-lines.ts";
import type { ProgramStatus } from "../../src/up/status.ts";
import { TerminalLog } from "../../src/up/terminal.ts";

/** A terminal of this size, which knows the sequences that move its cursor. */
function screen({ columns = 60, rows = 24, hasState = true } = {}) {
	const lines: string[] = [""];
	const size = { columns, rows };
	let row = 0;
	let column = 0;
	const write = (text: string) => {
		for (const [, up, clear, end, start, other] of text.matchAll(
			// biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal reads them
			/\u001b\[(\d+)A|(\u001b\[J)|(\n)|(\r)|([^\r\n\u001b]+|\u001b)/g,
		)) {
			const present = lines[row] ?? "";
			if (up) {
				// Nothing above may be removed by what follows.
				expect(Number(up)).toBeLessThan(size.rows);
				row -= Number(up);
			} else if (clear) lines.splice(row, lines.length, present.slice(0, column));
			else if (end) {
				if (++row === lines.length) lines.push("");
				column = 0;
			} else if (start) column = 0;
			else if (other) {
				lines[row] = present.slice(0, column) + other + present.slice(column + other.length);
				column += other.length;
			}
		}
	};
	const terminal = new TerminalLog(
		{
			get columns() {
				return size.columns;
			},
			get rows() {
				return size.rows;
			},
			write,
		},
		{ hasColours: false, hasState },
	);
	return { terminal, size, echo: write, shown: () => lines.slice(0, -1) };
}

const line = (program: string, message: string): LogLine =>
	parseLine(
		program,
		JSON.stringify({
			time: "2020-01-02T03:04:05.678Z",
			level: "info",
			message,
		}),
		"",
	);
const program = (name: string, fields: Partial<ProgramStatus> = {}) =>
	({
		name,
		state: "running",
		seconds: 1,
		restarts: 0,
		health: "ok",
		...fields,
	}) satisfies ProgramStatus;

test("the state stays below the log", () => {
	const { terminal, shown } = screen({ columns: 40 });
	terminal.write([line("up", "one")]);
	terminal.show([program("gateway"), program("alpha", { state: "starting" })]);
	terminal.write([line("alpha", "two"), line("beta", "three")]);
	terminal.show([program("gateway"), program("alpha")]);
	expect(shown()).toEqual([
		"03:04:05 up      INFO  one",
		"03:04:05 alpha   INFO  two",
		"03:04:05 beta    INFO  three",
		"─".repeat(39),
		"gateway  running",
		"alpha    running",
	]);
});

test("a key that the terminal echoes, such as Ctrl-C, leaves nothing in front of the log", () => {
	const { terminal, echo, shown } = screen({ columns: 40 });
	terminal.show([program("gateway")]);
	echo("^C");
	terminal.write([line("up", "program is stopping")]);
	echo("^C");
	terminal.show([]);
	terminal.write([line("up", "ended")]);
	expect(shown()).toEqual(["03:04:05 up      INFO  program is stopping", "03:04:05 up      INFO  ended"]);
});

test("nothing is drawn while the state is the same", () => {
	const { terminal, shown } = screen();
	const texts: string[] = [];
	const quiet = new TerminalLog({ write: (text) => texts.push(text) }, { hasColours: false, hasState: true });
	for (const seconds of [1, 2, 3]) {
		terminal.show([program("gateway", { seconds })]);
		quiet.show([program("gateway", { seconds })]);
	}
	expect(shown()).toHaveLength(2);
	expect(texts).toHaveLength(1);
});

test("lines of the state never wrap, and leave room for the log", () => {
	const { terminal, size, shown } = screen({ columns: 30, rows: 12 });
	const programs = Array.from({ length: 20 }, (_, index) =>
		program(`bot-${index}`, {
			state: "waiting",
			issue: `wrong:\n  ${"長い".repeat(40)}`,
		}),
	);
	terminal.show(programs);
	expect(shown()).toHaveLength(6);
	expect(shown().at(-1)).toBe("… and 16 more: up status");
	for (const text of shown()) expect(Bun.stringWidth(text)).toBeLessThan(30);
	size.columns = 12;
	terminal.redraw();
	for (const text of shown()) expect(Bun.stringWidth(text)).toBeLessThan(12);
	terminal.show([]);
	expect(shown()).toEqual([]);
});

test("a name as wide as the screen leaves room for the states", () => {
	const { terminal, shown } = screen({ columns: 40 });
	terminal.show([program("gateway"), program("x".repeat(40))]);
	expect(shown().slice(1)).toEqual([`gateway${" ".repeat(15)}running`, `${"x".repeat(20)}  running`]);
});

test("of several lines of a reason, those are shown that say what is wrong", () => {
	const { terminal, shown } = screen({ columns: 40 });
	const issue = "/srv/instances/alpha has 1 error:\n  .env: A: is required";
	terminal.show([program("alpha", { state: "waiting", issue })]);
	expect(shown()[1]).toBe("alpha  cannot start: .env: A: is requir");
});

test("hostile lines and states cannot move the cursor", () => {
	const { terminal, shown } = screen({ columns: 200 });
	const hostile = "\u001b[5A\u001b[J\r\n\u009b2J";
	terminal.write([parseLine("alpha", hostile, "2020-01-02T03:04:05.678Z"), line(hostile, hostile)]);
	terminal.show([program("alpha", { health: hostile }), program("beta", { state: "waiting", issue: hostile })]);
	const text = shown().join("\n");
	expect(shown()).toHaveLength(7);
	// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
	expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
});

test("where the cursor cannot be moved, there is only the log", () => {
	const { terminal, shown } = screen({ hasState: false });
	terminal.show([program("gateway")]);
	terminal.write([line("up", "one")]);
	expect(shown()).toEqual(["03:04:05 up      INFO  one"]);
});

test("each instance has a colour of its own, and only errors and warnings are coloured as a whole", () => {
	let written = "";
	const terminal = new TerminalLog({ write: (text) => (written += text) }, { hasColours: true, hasState: false });
	const write = (name: string, level: "info" | "warn") => {
		written = "";
		terminal.write([{ ...line(name, "one"), level }]);
		return written.replaceAll("\u001b", "");
	};
	expect(write("alpha", "info")).toBe("03:04:05 [36malpha  [39m INFO  one\n");
	expect(write("beta", "info")).toBe("03:04:05 [35mbeta   [39m INFO  one\n");
	expect(write("alpha", "warn")).toBe("03:04:05 [36malpha  [39m [33mWARN  one[39m\n");
	expect(write("gateway", "info")).toBe("03:04:05 [1mgateway[22m INFO  one\n");
});
