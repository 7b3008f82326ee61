// What every program does first and last: command line, configuration errors, signals, shutdown.

import type * as Util from "node:util";
import * as v from "valibot";
import packageJson from "../../../package.json" with { type: "json" };
import { ConfigError } from "../config.ts";
import { createLineWriter, createLog, defaultLogOptions, type Log, type LogOptions } from "../log.ts";

export const version: string = packageJson.version;

/** Describes from which sources and for which platform a compiled executable was built. */
export interface Build {
	/** Abbreviated git commit of the sources, or "unknown". */
	commit: string;
	/** Whether the sources differed from the git commit when the executable was built. */
	dirty: boolean;
	/** The platform that the executable was built for, such as "linux-x64". */
	target: string;
}

declare const GUILDHALL_BUILD: Build | undefined;

/** Describes the sources and the platform of this executable; undefined if the program runs from its sources. */
export const build: Build | undefined = typeof GUILDHALL_BUILD === "undefined" ? undefined : GUILDHALL_BUILD;

/**
 * Returns the shell command that starts the program `name`, such as "bot": `guildhall bot` in an executable, `bun run
 * bot` in the sources.
 */
export function runs(name: string): string {
	if (build) return `guildhall ${name}`;
	// `bun run check` is taken: it checks the sources.
	return name === "check" ? "bun run guildhall check" : `bun run ${name}`;
}

/** Returns the line that the option `--version` prints. */
export function versionLine(): string {
	if (!build) return version;
	const { commit, dirty, target } = build;
	const made = [`commit ${commit}`, ...(dirty ? ["dirty"] : []), target];
	return `${version} (${made.join(", ")})`;
}

type Options = NonNullable<NonNullable<Parameters<typeof Util.parseArgs>[0]>["options"]>;

/**
 * Parses the command line of the program. `--help` prints `usage`, `--version` prints the version; both exit 0. Unknown
 * arguments exit 2. If `usage` is a function, it is called only when its text is needed. Arguments that are no options are
 * added to `positionals`; without it, they are unknown.
 */
export function parseCommandLine<const T extends Options>(
	usage: string | (() => string),
	options: T,
	positionals?: string[],
) {
	const renderUsage = () => (typeof usage === "string" ? usage : usage());
	try {
		const { values, positionals: given } = argumentParser()({
			options: {
				...options,
				help: { type: "boolean", short: "h" },
				version: { type: "boolean" },
			},
			allowPositionals: positionals !== undefined,
		});
		positionals?.push(...given);
		if ("help" in values && values.help) {
			console.log(renderUsage());
			process.exit(0);
		}
		if ("version" in values && values.version) {
			console.log(versionLine());
			process.exit(0);
		}
		return values;
	} catch (error) {
		console.error(`${(error as Error).message}\n\n${renderUsage()}`);
		process.exit(2);
	}
}

function argumentParser(): typeof Util.parseArgs {
	if (process.argv.length > 2) return require("node:util").parseArgs;
	const parseNone = () => ({ values: {}, positionals: [] });
	return parseNone as unknown as typeof Util.parseArgs;
}

/** A running program that can be closed. */
export interface Running {
	/**
	 * Prepares the program for `close`: it still answers its clients, but tells them to connect again, or refuses new
	 * work. Resolves when the program can be closed without a loss of requests, at the latest after a limit of its own.
	 */
	drain?(): Promise<void>;
	close(): Promise<void>;
	/** Resolves with the reason if the program cannot continue and has to exit. */
	failed?: Promise<Error>;
}

// One Ctrl-C often arrives twice: from the terminal, and forwarded by `bun run`.
const secondSignalMs = 500;

const orphanMs = 1_000;

/**
 * Configures and starts a program and runs it until SIGINT or SIGTERM, then exits with 0. If the program fails, logs
 * the reason and exits with 1. A ConfigError is printed on stderr. If the variable STOP_WITH_STDIN is set, the end of
 * stdin acts as SIGTERM. `write` receives the log lines.
 */
export async function runProgram<Config extends { log: LogOptions }>(
	configure: () => Config,
	start: (config: Config, log: Log) => Running | Promise<Running>,
	write: (line: string) => void = createLineWriter(console.log),
): Promise<void> {
	let configured: Log | undefined;
	const log = (): Log => configured ?? createLog(defaultLogOptions(), write);
	let running: Running | undefined;
	let stoppedAt: number | undefined;

	const stop = async (cause: string, hasClients = true) => {
		const now = performance.now();
		if (stoppedAt !== undefined) {
			if (now - stoppedAt >= secondSignalMs) process.exit(1);
			return;
		}
		stoppedAt = now;
		// Before the start is complete there is nothing to close.
		if (!running) process.exit(0);
		log().info("program is stopping", { cause });
		try {
			if (hasClients) await running.drain?.();
			await running.close();
			process.exit(0);
		} catch (error) {
			log().error("program could not shut down cleanly", { error });
			process.exit(1);
		}
	};
	const fail = (error: unknown) => {
		log().error("program is stopping: internal error", { error });
		process.exit(1);
	};

	process.on("SIGINT", () => void stop("SIGINT"));
	process.on("SIGTERM", () => void stop("SIGTERM"));
	process.on("uncaughtException", fail);
	process.on("unhandledRejection", fail);
	if (process.env.STOP_WITH_STDIN)
		void stdinEnd().then(() => {
			// No clients are left to wait for: they ended with the parent.
			void stop("stdin ended", false);
			setTimeout(() => process.exit(1), orphanMs);
		});

	try {
		const config = configure();
		configured = createLog(config.log, write);
		running = await start(config, configured);
		void running.failed?.then((error) => {
			if (stoppedAt !== undefined) return;
			log().error("program is stopping because of an error", {
				reason: error.message,
			});
			process.exit(1);
		});
	} catch (error) {
		if (!(error instanceof ConfigError)) return fail(error);
		console.error(error.message);
		process.exit(1);
	}
}

/**
 * Runs an option such as `--check`: calls `check` without starting the program. Exits with 0 if `check` resolves with
 * true, with 1 for false, or with the exit code that it resolves with. A ConfigError is printed on stderr.
 */
export async function checkProgram<Config extends { log: LogOptions }>(
	configure: () => Config,
	check: (config: Config, log: Log) => Promise<boolean | number>,
): Promise<never> {
	const logAs = (options: LogOptions) => createLog({ ...options, level: "warn" }, console.error);
	let log = logAs(defaultLogOptions());
	try {
		const config = configure();
		log = logAs(config.log);
		const result = await check(config, log);
		process.exit(typeof result === "number" ? result : result ? 0 : 1);
	} catch (error) {
		if (error instanceof ConfigError) console.error(error.message);
		else log.error("program is stopping: internal error", { error });
		process.exit(1);
	}
}

async function stdinEnd(): Promise<void> {
	for await (const _ of Bun.stdin.stream()) {
		// Only its end matters.
	}
}

const lineWidth = 120;

/**
 * Returns the environment variables as text for `--help`, one variable per row: its name, its description, and its
 * default value or "(required)".
 */
export function describeVariables(schemas: Readonly<Record<string, v.GenericSchema>>): string {
	return describeRows(
		Object.entries(schemas).map(([name, schema]) => [name, `${v.getDescription(schema) ?? ""}${defaultNote(schema)}`]),
	);
}

/** Returns rows of names and descriptions as text for `--help`. */
export function describeRows(rows: readonly (readonly [name: string, description: string])[]): string {
	const nameWidth = Math.max(...rows.map(([name]) => name.length));
	const indent = " ".repeat(nameWidth + 4);
	return rows
		.map(([name, words]) => {
			const lines = wrap(words, lineWidth - indent.length);
			return `  ${name.padEnd(nameWidth)}  ${lines.join(`\n${indent}`)}`;
		})
		.join("\n");
}

function defaultNote(schema: v.GenericSchema): string {
	const { default: stated } = v.getMetadata(schema);
	const value = stated ?? v.getDefault(schema);
	if (value !== undefined) return ` (default: ${value})`;
	return schema.type === "optional" ? "" : " (required)";
}

function wrap(text: string, width: number): string[] {
	const lines: string[] = [];
	let line = "";
	for (const word of text.split(" ")) {
		if (line !== "" && line.length + 1 + word.length > width) {
			lines.push(line);
			line = word;
		} else line = line === "" ? word : `${line} ${word}`;
	}
	return [...lines, line];
}
