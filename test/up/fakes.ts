// Processes and a clock that tests control.

import type { ChildProcess, Exit } from "../../src/up/process.ts";
import type { Timing } from "../../src/up/supervisor.ts";

export interface FakeProcess extends ChildProcess {
	/** The signals that the process received. */
	signals: string[];
	listen(url?: string): void;
	exit(exit?: Partial<Exit>): void;
}

let lastPid = 0;

/** Returns a process whose events the test triggers. */
export function fakeProcess(): FakeProcess {
	const listening = Promise.withResolvers<string>();
	const exited = Promise.withResolvers<Exit>();
	const signals: string[] = [];
	return {
		pid: ++lastPid,
		listening: listening.promise,
		exited: exited.promise,
		signals,
		kill: (signal) => void signals.push(signal),
		listen: (url = "http://127.0.0.1:9090/mcp") => listening.resolve(url),
		exit: (exit) => exited.resolve({ code: undefined, signal: undefined, reason: "", ...exit }),
	};
}

/** A clock that stands still until it is moved. */
export class FakeTiming implements Timing {
	#now = 0;
	#timers: { at: number; work: () => void }[] = [];

	now() {
		return this.#now;
	}

	after(ms: number, work: () => void) {
		const timer = { at: this.#now + ms, work };
		this.#timers.push(timer);
		return () => {
			this.#timers = this.#timers.filter((other) => other !== timer);
		};
	}

	/** How long until each timer is due, in milliseconds. */
	get waits(): number[] {
		return this.#timers.map(({ at }) => at - this.#now);
	}

	/** Moves the clock, calls what is due, and lets promises settle. */
	async move(ms: number) {
		this.#now += ms;
		const due = this.#timers.filter(({ at }) => at <= this.#now);
		this.#timers = this.#timers.filter(({ at }) => at > this.#now);
		for (const { work } of due) work();
		await settle();
	}
}

/** Resolves when all promises that can settle now have settled. */
export async function settle(): Promise<void> {
	await new Promise((resolve) => setImmediate(resolve));
}
