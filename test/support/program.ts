// Our programs as processes, as an operator starts them.

import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { eachLine } from "../../src/demo/child.ts";
import { clock } from "./clock.ts";
import { until } from "./until.ts";

const root = join(import.meta.dir, "../..");

/** Where the executables are that are to be tested; undefined: the programs run from their sources. */
export const executables = process.env.EXECUTABLES
	? resolve(process.env.EXECUTABLES)
	: undefined;

/** How a main file is run: by Bun, or as its executable from where nothing of ours is. */
function commandOf(main: string): { command: string[]; cwd: string } {
	const [, program] = /^src\/(bot|gateway)\/main\.ts$/.exec(main) ?? [];
	return executables && program
		? { command: [join(executables, program)], cwd: tmpdir() }
		: { command: [process.execPath, join(root, main)], cwd: root };
}

export interface Program extends AsyncDisposable {
	pid: number;
	exited: Promise<number>;
	/** The code or the signal with which it ended; null while it runs. */
	readonly end: number | string | null;
	/** Everything on stdout and stderr so far, a line each. */
	lines: string[];
	/** The first of its lines for which `pick` gives something; rejects when the program ends before. */
	line<T>(pick: (line: string) => T | undefined): Promise<T>;
	kill(signal?: NodeJS.Signals): void;
	/** Closes its stdin, as the death of its parent does. */
	orphan(): void;
}

/** Runs a main file with this environment and the clock of the tests, nothing else. It ends with the test, or with the test run. */
export function startProgram(
	main: string,
	env: Record<string, string>,
	args: readonly string[] = [],
): Program {
	const { command, cwd } = commandOf(main);
	return startCommand([...command, ...args], env, { cwd });
}

/** Runs a command that may be one of ours with this environment and nothing else, as `startProgram` does. */
export function startCommand(
	command: readonly string[],
	env: Record<string, string>,
	options: { cwd: string; uid?: number; gid?: number },
): Program {
	const child = Bun.spawn([...command], {
		...options,
		env: { ...clock, ...env, STOP_WITH_STDIN: "1" },
		stdin: "pipe",
		stdout: "pipe",
		stderr: "pipe",
	});
	const lines: string[] = [];
	let changed = Promise.withResolvers<void>();
	const take = (line: string) => {
		lines.push(line);
		changed.resolve();
		changed = Promise.withResolvers();
	};
	const streams = [child.stdout, child.stderr];
	const ended = Promise.all(streams.map((one) => eachLine(one, take))).then(
		() => "ended" as const,
	);
	return {
		pid: child.pid,
		exited: child.exited,
		get end() {
			return child.exitCode ?? child.signalCode;
		},
		lines,
		async line(pick) {
			for (let over = false; ; ) {
				const next = changed.promise;
				for (const line of lines) {
					const picked = pick(line);
					if (picked !== undefined) return picked;
				}
				if (over)
					throw new Error(
						`${command.join(" ")} never said it:\n${lines.join("\n")}`,
					);
				over = (await Promise.race([next, ended])) === "ended";
			}
		},
		kill: (signal = "SIGTERM") => child.kill(signal),
		orphan: () => void child.stdin.end(),
		async [Symbol.asyncDispose]() {
			child.kill("SIGKILL");
			await child.exited;
		},
	};
}

/** Where a bot or a gateway listens, from its log. */
export function listeningUrl(program: Program): Promise<string> {
	return program.line((line) => /"url":"([^"]+)"/.exec(line)?.[1]);
}

/** Resolves when a program that listens at `url` is ready and lacks nothing; rejects when it ends before. */
export async function becomesReady(
	program: Program,
	url: string,
): Promise<void> {
	await until(`${url} is ready`, async () => {
		if (program.end !== null)
			throw new Error(
				`it ended with ${program.end}:\n${program.lines.join("\n")}`,
			);
		// Before it listens, the connection is refused.
		const answer = await fetch(new URL("/readyz", url)).catch(() => undefined);
		return answer && (await answer.text()) === "ok\n";
	});
}

/** The processes that have this one as their parent. */
export async function childrenOf(pid: number): Promise<number[]> {
	const table = await new Response(
		Bun.spawn(["ps", "-eo", "pid=,ppid="], { stdout: "pipe" }).stdout,
	).text();
	return table
		.trim()
		.split("\n")
		.map((line) => line.trim().split(/\s+/).map(Number))
		.filter(([, parent]) => parent === pid)
		.map(([child]) => child ?? 0);
}

/** Whether a process runs. One that has ended and was not yet collected by its parent does not. */
export async function isRunning(pid: number): Promise<boolean> {
	const state = await new Response(
		Bun.spawn(["ps", "-o", "stat=", "-p", String(pid)], { stdout: "pipe" })
			.stdout,
	).text();
	return state.trim() !== "" && !state.startsWith("Z");
}

/** Resolves when none of these processes runs any more. */
export async function allEnded(pids: readonly number[]): Promise<void> {
	await until("all processes have ended", async () => {
		const running = await Promise.all(pids.map(isRunning));
		return !running.includes(true);
	});
}
