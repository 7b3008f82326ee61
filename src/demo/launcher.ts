// Who started us, and that they are still there.
//
// `npx … bun run demo` is a chain of processes: npm, perhaps a shell, `bun run`, us. When a link above us is killed,
// nobody tells us; so we look.

import { readFileSync } from "node:fs";

const lookEveryMs = 250;

/** Resolves when `bun run`, or the npm that started it, has ended. */
export function launcherEnd(): Promise<void> {
	const chain = findChain();
	return new Promise((resolve) => {
		const timer = setInterval(() => {
			const whole = chain.every(({ child, parent }) => {
				if (child === process.pid) return process.ppid === parent;
				return readProcess(child)?.parent === parent;
			});
			if (whole) return;
			clearInterval(timer);
			resolve();
		}, lookEveryMs);
		timer.unref();
	});
}

/** The links from us up to npm, where npm started us; else the one link to our parent. */
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
	// Above `bun run` stands someone's own shell: whether it ends is no concern of ours.
	return chain.slice(0, 1);
}

/** A process's parent and name; undefined where it has ended, or the system has no /proc. */
function readProcess(
	pid: number,
): { parent: number; name: string } | undefined {
	let stat: string;
	try {
		stat = readFileSync(`/proc/${pid}/stat`, "utf8");
	} catch {
		return undefined; // It has ended, or this is not Linux: both mean that we know of no such process.
	}
	// "pid (name) state ppid …": a name may hold anything, parentheses included.
	const match = /^\d+ \((.*)\) \S+ (\d+) /s.exec(stat);
	const [, name, parent] = match ?? [];
	if (name === undefined || parent === undefined) return undefined;
	return { name, parent: Number(parent) };
}
