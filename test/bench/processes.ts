// What processes use of the machine, and processes that end with this one.

import { closeSync, openSync, truncateSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { cacheEnvironment } from "../../src/up/environment.ts";
import { childrenOf } from "../support/program.ts";

const onLinux = process.platform === "linux";
const ticksPerSecond = onLinux ? Number(outputOf(["getconf", "CLK_TCK"])) : 100;

/** A process and all below it, as they are now. */
export async function treeOf(pid: number): Promise<number[]> {
	const children = await childrenOf(pid);
	const below = await Promise.all(children.map(treeOf));
	return [pid, ...below.flat()];
}

/** What processes have used of the processor so far, in microseconds, to the nearest 10,000: user and system time. */
export async function cpuMicros(pids: readonly number[]): Promise<number> {
	const each = await Promise.all(pids.map(cpuMicrosOf));
	return each.reduce((sum, micros) => sum + micros, 0);
}

async function cpuMicrosOf(pid: number): Promise<number> {
	if (!onLinux) return secondsOf(outputOf(["ps", "-o", "time=", "-p", `${pid}`])) * 1e6;
	const stat = await readFile(`/proc/${pid}/stat`, "latin1");
	// The name in parentheses may hold spaces. https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
	const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
	const [user, system] = [fields[11], fields[12]].map(Number);
	return (((user ?? 0) + (system ?? 0)) * 1e6) / ticksPerSecond;
}

/** Seconds of [[days-]hours:]minutes:seconds. */
function secondsOf(time: string): number {
	return time
		.split(/[-:]/)
		.map(Number)
		.reduce((sum, part, index, { length }) => {
			const dayFirst = length === 4 && index === 1;
			return sum * (dayFirst ? 24 : 60) + part;
		}, 0);
}

/** Resident memory in MiB. */
export async function memoryOf(pid: number): Promise<number> {
	const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
	const kib = /^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1] ?? outputOf(["ps", "-o", "rss=", "-p", `${pid}`]);
	return Number(kib) / 1024;
}

/**
 * Memory of a process in MiB, with what it shares divided among those that share it (PSS): summed over processes, no page
 * counts twice. NaN where the system does not say. https://man7.org/linux/man-pages/man5/proc_pid_smaps.5.html
 */
export async function ownMemoryOf(pid: number): Promise<number> {
	const rollup = `/proc/${pid}/smaps_rollup`;
	const text = await readFile(rollup, "utf8").catch(() => "");
	return Number(/^Pss:\s*(\d+) kB$/m.exec(text)?.[1]) / 1024;
}

/** The most resident memory that a process has had, in MiB; NaN where the system does not say. */
export async function peakMemoryOf(pid: number): Promise<number> {
	const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
	return Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

/** How many files a process may have open here. */
export function maxOpenFiles(): number {
	const limit = outputOf(["sh", "-c", "ulimit -n"]);
	return limit === "unlimited" ? Number.POSITIVE_INFINITY : Number(limit);
}

function outputOf(command: string[]): string {
	return Bun.spawnSync(command).stdout.toString().trim();
}

export interface Logged extends AsyncDisposable {
	readonly pid: number;
	readonly exited: Promise<number>;
	/** Empties its log. */
	forget(): void;
}

/**
 * Runs a command whose output goes to a file: as somewhere real, and without work for this process. It has this
 * environment, Bun's cache of transpiled files as in a shell, and nothing else; it ends when it is disposed of, or, if it
 * watches its stdin, with this process.
 */
export function startLogged(command: readonly string[], env: Record<string, string>, log: string): Logged {
	const file = openSync(log, "a");
	const child = Bun.spawn([...command], {
		env: { ...cacheEnvironment(process.env), ...env, STOP_WITH_STDIN: "1" },
		stdin: "pipe",
		stdout: file,
		stderr: file,
	});
	closeSync(file);
	return {
		pid: child.pid,
		exited: child.exited,
		forget: () => truncateSync(log),
		async [Symbol.asyncDispose]() {
			child.kill();
			// It may have connections that somebody else still holds.
			const last = setTimeout(() => child.kill("SIGKILL"), 2_000);
			await child.exited;
			clearTimeout(last);
		},
	};
}
