// Ends programs that a killed `up` left running. They usually end by themselves within a second. A program that hangs
// or was stopped (SIGSTOP) does not; the next `up` kills it, because it holds ports and databases. Linux only: on other
// systems nothing is recorded.

import { readFileSync, readlinkSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const graceMs = 2_000;
const pollMs = 50;

/** Records which programs run, as far as it can, in the directory that `claimState` has claimed. */
export class ProcessRecord {
	readonly #path: string;
	readonly #running = new Map<number, string>();

	constructor(directory: string) {
		this.#path = join(directory, "processes");
	}

	add(pid: number): void {
		const start = startOf(pid);
		if (start === undefined) return;
		this.#running.set(pid, start);
		this.#write();
	}

	remove(pid: number): void {
		if (this.#running.delete(pid)) this.#write();
	}

	/**
	 * Waits until the programs that an earlier `up` recorded have ended. Kills those that do not end in time. Resolves
	 * with the ids of the killed processes.
	 */
	async endOthers(): Promise<number[]> {
		const end = performance.now() + graceMs;
		const others = this.#read();
		const left = () => others.filter(({ pid, start }) => startOf(pid) === start && isOurs(pid));
		while (left().length > 0 && performance.now() < end) await Bun.sleep(pollMs);
		const killed = left();
		for (const { pid } of killed) kill(pid);
		while (left().length > 0) await Bun.sleep(pollMs);
		return killed.map(({ pid }) => pid);
	}

	#write(): void {
		const lines = Array.from(this.#running, ([pid, start]) => `${pid} ${start}\n`);
		try {
			writeFileSync(this.#path, lines.join(""), { mode: 0o600 });
		} catch {
			// Writing can fail, for example on a full disk. The programs run anyway, but the next `up` cannot end those that
			// hang.
		}
	}

	#read(): { pid: number; start: string }[] {
		return read(this.#path)
			.split("\n")
			.map((line) => line.split(" "))
			.map(([pid, start = ""]) => ({ pid: Number(pid), start }))
			.filter(({ pid }) => Number.isInteger(pid) && pid > 1);
	}
}

function kill(pid: number): void {
	try {
		process.kill(pid, "SIGKILL");
	} catch {
		// The process has just ended.
	}
}

function startOf(pid: number): string | undefined {
	// The format is "pid (name) state ppid …". The name may contain parentheses. The start time is field 22.
	const stat = read(`/proc/${pid}/stat`);
	const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
	// A zombie has ended: it holds no port and no database.
	return fields[0] === "Z" ? undefined : fields[19];
}

/** Whether a process runs the same executable as this one. Otherwise its id was reused for another program. */
function isOurs(pid: number): boolean {
	try {
		const path = readlinkSync(`/proc/${pid}/exe`);
		return path.startsWith(realpathSync(process.execPath));
	} catch {
		return false;
	}
}

function read(path: string): string {
	try {
		return readFileSync(path, "utf8");
	} catch {
		return "";
	}
}
