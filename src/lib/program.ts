// What every main has around its program: the command line, faults at start, signals, the end.

import { parseArgs } from "node:util";
import packageJson from "../../package.json" with { type: "json" };
import { ConfigError } from "./config.ts";
import { createLineWriter } from "./lines.ts";
import {
	createLog,
	defaultLogOptions,
	type Log,
	type LogOptions,
} from "./log.ts";

/** The version that MCP peers are told. */
export const version: string = packageJson.version;

/** What an executable was made from. */
export interface Build {
	/** The beginning of git's, or "unknown". */
	commit: string;
	/** Whether the sources were others than those of the commit. */
	dirty: boolean;
	/** The platform that it is for, such as "linux-x64". */
	target: string;
}

declare const GUILDHALL_BUILD: Build | undefined;

/** Undefined where the program runs from its sources. */
export const build: Build | undefined =
	typeof GUILDHALL_BUILD === "undefined" ? undefined : GUILDHALL_BUILD;

/** What an operator types to run one of the programs. */
export function runs(program: "bot" | "gateway"): string {
	return build ? program : `bun run ${program}`;
}

/** The version, and of an executable what it was made from. */
function versionLine(): string {
	if (!build) return version;
	const { commit, dirty, target } = build;
	const made = [`commit ${commit}`, ...(dirty ? ["dirty"] : []), target];
	return `${version} (${made.join(", ")})`;
}

type Options = NonNullable<
	NonNullable<Parameters<typeof parseArgs>[0]>["options"]
>;

/**
 * The command line's options. `--help` prints `usage` and `--version` the version, both with exit 0;
 * a word that is no option of this program ends it with exit 2.
 */
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

/** A started program, and how to end it cleanly. */
export interface Running {
	close(): Promise<void>;
	/** Resolves with the reason when it cannot go on. */
	failed?: Promise<Error>;
}

// One Ctrl-C often arrives twice: from the terminal, and forwarded by `bun run`.
const secondSignalMs = 500;

/** How long a child without a parent may take to end. */
const orphanMs = 1_000;

/**
 * Configures a program, starts it and runs it until a signal ends it: SIGINT and SIGTERM close it and exit 0, a second one
 * at least half a second later exits 1 at once. A program that has failed exits 1 with its reason in the log. A ConfigError
 * ends it with its message on stderr and exit 1. With STOP_WITH_STDIN set, the end of stdin counts as SIGTERM: a child
 * whose parent died without a word ends too. The log writes its lines to `write`.
 */
export async function runProgram<Config extends { log: LogOptions }>(
	configure: () => Config,
	start: (config: Config, log: Log) => Running | Promise<Running>,
	write: (line: string) => void = createLineWriter(console.log),
): Promise<void> {
	// A fault of ours may come before the configuration is read.
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
		// Nothing was promised to anyone before the start was over.
		if (!running) process.exit(0);
		log.info(`stopping: ${cause}`);
		try {
			await running.close();
			process.exit(0);
		} catch (error) {
			log.error("could not stop cleanly", { error });
			process.exit(1);
		}
	};
	const fail = (error: unknown) => {
		log.error("stopping: a fault of ours", { error });
		process.exit(1);
	};

	process.on("SIGINT", () => void stop("SIGINT"));
	process.on("SIGTERM", () => void stop("SIGTERM"));
	process.on("uncaughtException", fail);
	process.on("unhandledRejection", fail);
	if (process.env.STOP_WITH_STDIN)
		void stdinEnd().then(() => {
			void stop("stdin ended");
			// Whoever waited for an answer has gone with our parent.
			setTimeout(() => process.exit(1), orphanMs);
		});

	try {
		const config = configure();
		log = createLog(config.log, write);
		running = await start(config, log);
		void running.failed?.then((error) => {
			if (stoppedAt !== undefined) return;
			log.error(`stopping: ${error.message}`);
			process.exit(1);
		});
	} catch (error) {
		if (!(error instanceof ConfigError)) return fail(error);
		console.error(error.message);
		process.exit(1);
	}
}

/**
 * Checks a program instead of running it, and ends with exit 0 where `check` resolves with true, else with exit 1. A
 * ConfigError becomes its message on stderr and exit 1. On stdout is what `check` writes; the log goes to stderr, from
 * warnings upwards.
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
		else log.error("stopping: a fault of ours", { error });
		process.exit(1);
	}
}

async function stdinEnd(): Promise<void> {
	for await (const _ of Bun.stdin.stream()) {
		// What it says does not matter; that it ends does.
	}
}
