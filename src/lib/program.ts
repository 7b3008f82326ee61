// The frame of every program: command line, configuration errors, signals, shutdown.

import { parseArgs } from "node:util";
import packageJson from "../../package.json" with { type: "json" };
import { ConfigError } from "./config.ts";
import {
	createLineWriter,
	createLog,
	defaultLogOptions,
	type Log,
	type LogOptions,
} from "./log.ts";

/** The version, as sent to MCP peers. */
export const version: string = packageJson.version;

/** The source of an executable. */
export interface Build {
	/** Abbreviated git commit, or "unknown". */
	commit: string;
	/** Whether the sources differed from the commit. */
	dirty: boolean;
	/** Its platform, such as "linux-x64". */
	target: string;
}

declare const GUILDHALL_BUILD: Build | undefined;

/** Undefined if the program runs from its sources. */
export const build: Build | undefined =
	typeof GUILDHALL_BUILD === "undefined" ? undefined : GUILDHALL_BUILD;

/** The command that runs one of the programs. */
export function runs(program: "bot" | "gateway"): string {
	return build ? program : `bun run ${program}`;
}

/** The version; for an executable also its source. */
function versionLine(): string {
	if (!build) return version;
	const { commit, dirty, target } = build;
	const made = [`commit ${commit}`, ...(dirty ? ["dirty"] : []), target];
	return `${version} (${made.join(", ")})`;
}

type Options = NonNullable<
	NonNullable<Parameters<typeof parseArgs>[0]>["options"]
>;

/** Parses the command line. `--help` prints `usage`, `--version` the version, both exit 0. Unknown arguments exit 2. */
export function parseCommandLine<const T extends Options>(
	usage: string,
	options: T,
) {
	try {
		const { values } = parseArgs({
			options: {
				...options,
				help: { type: "boolean", short: "h" },
				version: { type: "boolean" },
			},
		});
		if ("help" in values && values.help) {
			console.log(usage);
			process.exit(0);
		}
		if ("version" in values && values.version) {
			console.log(versionLine());
			process.exit(0);
		}
		return values;
	} catch (error) {
		console.error(`${(error as Error).message}\n\n${usage}`);
		process.exit(2);
	}
}

/** A started program. */
export interface Running {
	close(): Promise<void>;
	/** Resolves with the reason when the program cannot continue. */
	failed?: Promise<Error>;
}

// One Ctrl-C often arrives twice: from the terminal, and forwarded by `bun run`.
const secondSignalMs = 500;

/** Time for an orphaned child to shut down. */
const orphanMs = 1_000;

/**
 * Configures a program, starts it and runs it until a signal: SIGINT and SIGTERM close it and exit 0; a second signal after
 * half a second exits 1 at once. A failed program logs the reason and exits 1. A ConfigError is printed on stderr, exit 1.
 * With STOP_WITH_STDIN, the end of stdin counts as SIGTERM, so a child ends when its parent is killed. The log writes its
 * lines to `write`.
 */
export async function runProgram<Config extends { log: LogOptions }>(
	configure: () => Config,
	start: (config: Config, log: Log) => Running | Promise<Running>,
	write: (line: string) => void = createLineWriter(console.log),
): Promise<void> {
	// For internal errors before the configuration is read.
	let log = createLog(defaultLogOptions(), write);
	let running: Running | undefined;
	let stoppedAt: number | undefined;

	const stop = async (cause: string) => {
		const now = performance.now();
		if (stoppedAt !== undefined) {
			if (now - stoppedAt >= secondSignalMs) process.exit(1);
			return;
		}
		stoppedAt = now;
		// Nothing to close before the start is complete.
		if (!running) process.exit(0);
		log.info("stopping", { cause });
		try {
			await running.close();
			process.exit(0);
		} catch (error) {
			log.error("shutdown failed", { error });
			process.exit(1);
		}
	};
	const fail = (error: unknown) => {
		log.error("stopping: internal error", { error });
		process.exit(1);
	};

	process.on("SIGINT", () => void stop("SIGINT"));
	process.on("SIGTERM", () => void stop("SIGTERM"));
	process.on("uncaughtException", fail);
	process.on("unhandledRejection", fail);
	if (process.env.STOP_WITH_STDIN)
		void stdinEnd().then(() => {
			void stop("stdin ended");
			// The clients ended with the parent.
			setTimeout(() => process.exit(1), orphanMs);
		});

	try {
		const config = configure();
		log = createLog(config.log, write);
		running = await start(config, log);
		void running.failed?.then((error) => {
			if (stoppedAt !== undefined) return;
			log.error("stopping", { reason: error.message });
			process.exit(1);
		});
	} catch (error) {
		if (!(error instanceof ConfigError)) return fail(error);
		console.error(error.message);
		process.exit(1);
	}
}

/**
 * Runs the checks of a program instead of the program: exits with 0 if `check` resolves with true, else with 1. A
 * ConfigError is printed on stderr, exit 1. Stdout has the output of `check`; warnings and errors are logged to stderr.
 */
export async function checkProgram<Config extends { log: LogOptions }>(
	configure: () => Config,
	check: (config: Config, log: Log) => Promise<boolean>,
): Promise<never> {
	const logAs = (options: LogOptions) =>
		createLog({ ...options, level: "warn" }, console.error);
	let log = logAs(defaultLogOptions());
	try {
		const config = configure();
		log = logAs(config.log);
		process.exit((await check(config, log)) ? 0 : 1);
	} catch (error) {
		if (error instanceof ConfigError) console.error(error.message);
		else log.error("stopping: internal error", { error });
		process.exit(1);
	}
}

async function stdinEnd(): Promise<void> {
	for await (const _ of Bun.stdin.stream()) {
		// Only its end matters.
	}
}
