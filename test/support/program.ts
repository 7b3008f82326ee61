// Our programs as processes, as an operator starts them.

import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { eachLine } from "../../src/lib/program/lines.ts";
import { clock } from "./clock.ts";
import { until } from "./until.ts";

const root = join(import.meta.dir, "../..");

/** The directory of the executable to test and of the links to it. If undefined, programs run from their sources. */
export const executables = process.env.EXECUTABLES ? resolve(process.env.EXECUTABLES) : undefined;

/** The command for a main file: Bun in the project directory, or the executable outside of it. */
function commandOf(main: string): { command: string[]; cwd: string } {
	const [, program] = /^src\/(bot|gateway|simulator|demo)\/main\.ts$/.exec(main) ?? [];
	return executables && program
		? { command: [join(executables, "guildhall"), program], cwd: tmpdir() }
		: { command: [process.execPath, join(root, main)], cwd: root };
}

export interface Program extends AsyncDisposable {
	pid: number;
	exited: Promise<number>;
	/** Its exit code or signal; null while it runs. */
	readonly end: number | string | null;
	/** The lines of stdout and stderr so far. */
	lines: string[];
	/** Resolves with the first defined result of `pick` for a line. Rejects if the program ends before. */
	line<T>(pick: (line: string) => T | undefined): Promise<T>;
	kill(signal?: NodeJS.Signals): void;
	/** Closes its stdin, as the end of its parent does. */
	orphan(): void;
}

/** Runs a main file with only this environment and the clock of the tests. It ends with the test or the test run. */
export function startProgram(main: string, env: Record<string, string>, args: readonly string[] = []): Program {
	const { command, cwd } = commandOf(main);
	return startCommand([...command, ...args], env, { cwd });
}

/** Runs a command like `startProgram`, with only this environment. */
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
	const ended = Promise.all(streams.map((one) => eachLine(one, take))).then(() => "ended" as const);
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
				if (over) throw new Error(`${command.join(" ")} ended without the expected line:\n${lines.join("\n")}`);
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

/** The URL of a bot or gateway, from its log. */
export function listeningUrl(program: Program): Promise<string> {
	return program.line((line) => /"url":"([^"]+)"/.exec(line)?.[1]);
}

/** Resolves when the program at `url` is ready and not degraded. Rejects if it ends before. */
export async function becomesReady(program: Program, url: string): Promise<void> {
	await until(`${url} is ready`, async () => {
		if (program.end !== null) throw new Error(`it ended with ${program.end}:\n${program.lines.join("\n")}`);
		// The connection is refused until it listens.
		const answer = await fetch(new URL("/readyz", url)).catch(() => undefined);
		return answer && (await answer.text()) === "ok\n";
	});
}

/** The child processes of a process. */
export async function childrenOf(pid: number): Promise<number[]> {
	const table = await ps("-eo", "pid=,ppid=");
	return table
		.trim()
		.split("\n")
		.map((line) => line.trim().split(/\s+/).map(Number))
		.filter(([, parent]) => parent === pid)
		.map(([child]) => child ?? 0);
}

/** Whether a process runs. Zombies do not count. */
export async function isRunning(pid: number): Promise<boolean> {
	const state = await ps("-o", "stat=", "-p", String(pid));
	return state.trim() !== "" && !state.startsWith("Z");
}

function ps(...options: string[]): Promise<string> {
	const { stdout } = Bun.spawn(["ps", ...options], { stdout: "pipe" });
	return new Response(stdout).text();
}

/** Resolves when all of these processes have ended. */
export async function allEnded(pids: readonly number[]): Promise<void> {
	await until("all processes have ended", async () => {
		const running = await Promise.all(pids.map(isRunning));
		return !running.includes(true);
	});
}
