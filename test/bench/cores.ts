// Which cores of the machine do what: one for the server under test, or all of them loaded by something else.

import { availableParallelism } from "node:os";

/** Puts a command on some cores. */
export type Pin = (command: readonly string[]) => string[];

export interface Cores {
	/** For what is measured. */
	server: Pin;
	/** For the load generator and the stubs. */
	others: Pin;
}

export const anyCore: Pin = (command) => [...command];

/**
 * All cores for everything; with `oneCore`, the first for what is measured and the rest for everything else. Throws where
 * that is impossible: it takes two cores, and `taskset` of util-linux.
 */
export function shareCores(oneCore: boolean): Cores {
	if (!oneCore) return { server: anyCore, others: anyCore };
	const count = availableParallelism();
	if (count < 2) throw new Error("--one-core: this machine has only one core");
	return { server: pinTo("0"), others: pinTo(`1-${count - 1}`) };
}

function pinTo(cores: string): Pin {
	const taskset = Bun.which("taskset");
	if (!taskset) throw new Error("taskset is not installed (util-linux)");
	return (command) => [taskset, "-c", cores, ...command];
}

/** Ends with its stdin: it looks between two slices of work. */
const spin = `
process.stdin.on("end", () => process.exit(0)).resume();
function slice() {
	const end = performance.now() + 50;
	while (performance.now() < end);
	setImmediate(slice);
}
slice();`;

/** A process for each core that uses all it gets of it, until it is disposed of or this process ends. */
export function loadAllCores(): AsyncDisposable & { pids: number[] } {
	const children = Array.from({ length: availableParallelism() }, (_, core) => {
		const command = [process.execPath, "-e", spin];
		return Bun.spawn(Bun.which("taskset") ? pinTo(String(core))(command) : command, {
			stdin: "pipe",
			stdout: "inherit",
			stderr: "inherit",
		});
	});
	return {
		pids: children.map(({ pid }) => pid),
		async [Symbol.asyncDispose]() {
			for (const child of children) child.kill();
			await Promise.all(children.map(({ exited }) => exited));
		},
	};
}
