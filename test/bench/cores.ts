// Which cores of the machine do what: all of them everything, or one the server under test.

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
