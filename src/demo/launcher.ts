// Detects when the process that started the demo is killed.
//
// `npx … bun run demo` is a chain of processes: npm, perhaps a shell, `bun run`, the demo. Killing one of them sends no signal
// to the demo, so it polls.

import { readFileSync } from "node:fs";

const pollMs = 250;

/** Resolves when `bun run` or its npm has ended. */
export function launcherEnd(): Promise<void> {
	const chain = findChain();
	return new Promise((resolve) => {
		const timer = setInterval(() => {
			const isIntact = chain.every(({ child, parent }) => {
				if (child === process.pid) return process.ppid === parent;
				return readProcess(child)?.parent === parent;
			});
			if (isIntact) return;
			clearInterval(timer);
			resolve();
		}, pollMs);
		timer.unref();
	});
}

/** The processes from here up to npm, if npm started the demo; otherwise only the parent. */
function findChain(): { child: number; parent: number }[] {
	const chain = [{ child: process.pid, parent: process.ppid }];
	for (let pid = process.ppid; ; ) {
		const parent = readProcess(pid)?.parent;
		const name = parent === undefined ? undefined : readProcess(parent)?.name;
		if (parent === undefined || name === undefined) break;
		chain.push({ child: pid, parent });
		if (name.startsWith("npm")) return chain;
		if (name !== "sh") break;
		pid = parent;
	}
	// Above `bun run` is the user's shell, which does not matter.
	return chain.slice(0, 1);
}

/** A process's parent and name; undefined if it has ended or there is no /proc. */
function readProcess(
	pid: number,
): { parent: number; name: string } | undefined {
	let stat: string;
	try {
		stat = readFileSync(`/proc/${pid}/stat`, "utf8");
	} catch {
		return undefined; // Ended, or not Linux.
	}
	// "pid (name) state ppid …"; the name may contain parentheses.
	const match = /^\d+ \((.*)\) \S+ (\d+) /s.exec(stat);
	const [, name, parent] = match ?? [];
	if (name === undefined || parent === undefined) return undefined;
	return { name, parent: Number(parent) };
}
