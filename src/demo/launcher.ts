// Detects that the process which started the demo was killed. `npx … bun run demo` is a chain of processes: npm,
// perhaps a shell, `bun run`, the demo. If one of them is killed, the demo receives no signal, so it polls.

import { readFileSync } from "node:fs";

const pollMs = 250;

/** `bun run`, npm, or a process between them. */
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

function findChain(): { child: number; parent: number }[] {
	const chain = [{ child: process.pid, parent: process.ppid }];
	for (let pid = process.ppid; ; ) {
		const parent = readProcess(pid)?.parent;
		const name = parent && readProcess(parent)?.name;
		if (!parent || !name) break;
		chain.push({ child: pid, parent });
		if (name.startsWith("npm")) return chain;
		if (name !== "sh") break;
		pid = parent;
	}
	// npm did not start the demo. The parent of `bun run` is the shell of a person, which may end.
	return chain.slice(0, 1);
}

function readProcess(pid: number): { parent: number; name: string } | undefined {
	let stat: string;
	try {
		stat = readFileSync(`/proc/${pid}/stat`, "utf8");
	} catch {
		return undefined; // The process has ended, or this is not Linux.
	}
	// "pid (name) state ppid …"; the name may contain parentheses.
	const [, name, parent] = /^\d+ \((.*)\) \S+ (\d+) /s.exec(stat) ?? [];
	return name === undefined ? undefined : { name, parent: Number(parent) };
}
