// What every program does first and last: command line, configuration errors, signals, shutdown.

import type * as Util from "node:util";
import * as v from "valibot";
import packageJson from "../../../package.json" with { type: "json" };
import { ConfigError } from "../config.ts";
import { createLineWriter, createLog, defaultLogOptions, type Log, type LogOptions } from "../log.ts";

export const version: string = packageJson.version;

/** Than this program. */
export function isNewer(candidate: string): boolean {
	return candidate !== "" && Bun.semver.order(candidate, version) > 0;
}

export interface Build {
	commit: string;
	/** The sources differed from the commit. */
	dirty: boolean;
	target: string;
}

declare const GUILDHALL_BUILD: Build | undefined;

export const build: Build | undefined = typeof GUILDHALL_BUILD === "undefined" ? undefined : GUILDHALL_BUILD;

/** The shell command of a program: `guildhall bot` in an executable, `bun run bot` in the sources. */
export function runs(name: string): string {
	if (build) return `guildhall ${name}`;
	// `bun run check` is taken: it checks the sources.
	return name === "check" ? "bun run guildhall check" : `bun run ${name}`;
}

export function versionLine(): string {
	if (!build) return version;
	const made = [`commit ${build.commit}`, ...(build.dirty ? ["dirty"] : []), build.target];
	return `${version} (${made.join(", ")})`;
}

type Options = NonNullable<NonNullable<Parameters<typeof Util.parseArgs>[0]>["options"]>;

/** With this variable a program only prints the words that a shell completes. */
export const completing = "GUILDHALL_COMPLETE";

/** One a line. */
export function completions(options: object, words: readonly string[] = []): string {
	return [...words, ...Object.keys(options).map((name) => `--${name}`)].join("\n");
}

/**
 * `--help` and `--version` exit with 0, unknown arguments with 2. `positionals` gets those that are no options, such as one of
 * `words`.
 */
export function parseCommandLine<const T extends Options>(
	usage: string | (() => string),
	options: T,
	positionals?: string[],
	words: readonly string[] = [],
) {
	if (process.env[completing]) {
		console.log(completions({ ...options, help: {}, version: {} }, words));
		process.exit(0);
	}
	const renderUsage = () => (typeof usage === "string" ? usage : usage());
	try {
		const { values, positionals: given } = argumentParser()({
			options: { ...options, help: { type: "boolean", short: "h" }, version: { type: "boolean" } },
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
	return (() => ({ values: {}, positionals: [] })) as unknown as typeof Util.parseArgs;
}

export interface Running {
	/** Answers, but sends clients elsewhere or refuses work. Resolves when `close` is safe, or after its own limit. */
	drain?(): Promise<void>;
	close(): Promise<void>;
	/** Resolves with the reason if the program has to exit. */
	failed?: Promise<Error>;
}

// One Ctrl-C often arrives twice: from the terminal, and forwarded by `bun run`.
const secondSignalMs = 500;

const orphanMs = 1_000;

/**
 * Runs until SIGINT or SIGTERM, then exits with 0; logs a failure and exits with 1. ConfigErrors go to stderr. With
 * STOP_WITH_STDIN, the end of stdin acts as SIGTERM. `write` receives the log lines.
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
			log().error("program is stopping because of an error", { reason: error.message });
			process.exit(1);
		});
	} catch (error) {
		if (!(error instanceof ConfigError)) return fail(error);
		console.error(error.message);
		process.exit(1);
	}
}

/** Exits with 0 for true, 1 for false, or with the code that `check` resolves with. ConfigErrors go to stderr. */
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

/** Exits with the code that `work` resolves with, or with 1 and the message of an error that the operator can solve. */
export async function exitAfter(
	work: () => Promise<number>,
	isExpected: (error: unknown) => boolean = (error) => error instanceof ConfigError,
): Promise<never> {
	try {
		process.exit(await work());
	} catch (error) {
		if (!isExpected(error)) throw error;
		console.error((error as Error).message);
		process.exit(1);
	}
}

async function stdinEnd(): Promise<void> {
	for await (const _ of Bun.stdin.stream()) {
		// Only its end matters.
	}
}

const lineWidth = 120;

/** A row for each variable: name, description, default value or "(required)". */
export function describeVariables(schemas: Readonly<Record<string, v.GenericSchema>>): string {
	return describeRows(
		Object.entries(schemas).map(([name, schema]) => [name, `${v.getDescription(schema) ?? ""}${defaultNote(schema)}`]),
	);
}

export function describeRows(rows: readonly (readonly [name: string, description: string])[]): string {
	const nameWidth = Math.max(...rows.map(([name]) => name.length));
	const indent = " ".repeat(nameWidth + 4);
	return rows
		.map(([name, words]) => {
			return `  ${name.padEnd(nameWidth)}  ${wrap(words, lineWidth - indent.length).join(`\n${indent}`)}`;
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
