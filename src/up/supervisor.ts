// Keeps one program running: starts it again with back-off when it ends, and ends or replaces it on request.

import { doubledMs } from "../lib/back-off.ts";
import type { ProgramState, Started } from "../lib/instances/control.ts";
import type { Log } from "../lib/log.ts";
import type { ChildProcess, Exit } from "./process.ts";

export interface Timing {
	/** Monotonic, in milliseconds. */
	now(): number;
	/** `ms` milliseconds; the result cancels the call. */
	after(ms: number, work: () => void): () => void;
}

export const timing: Timing = {
	now: () => performance.now(),
	after(ms, work) {
		const timer = setTimeout(work, ms);
		return () => clearTimeout(timer);
	},
};

interface SupervisorOptions {
	name: string;
	/** Throws if the operating system cannot start it. */
	spawn(): ChildProcess;
	/** Milliseconds from SIGTERM until it is killed. */
	stopMs(): number;
	log: Log;
	timing: Timing;
}

const backOffMs = [1_000, 60_000] as const;
const steadyMs = 60_000;
const replacementMs = 30_000;

export class Supervisor {
	readonly name: string;
	state: ProgramState = "stopped";
	/** Also of the last start; undefined before the first. */
	url: string | undefined;
	/** Why the last start failed; undefined once it listens. */
	issue: string | undefined;
	/** Why it last ended on its own after it had listened. */
	endReason: string | undefined;
	/** Stopped until somebody starts it. */
	isHalted = false;
	/** After it ended on its own. */
	restarts = 0;
	/** Of the last change of state, in milliseconds of `Timing.now`. */
	since: number;
	readonly #options: SupervisorOptions;
	#current: ChildProcess | undefined;
	#started: Promise<Started> = Promise.resolve({ reason: "it is stopped" });
	#next: ChildProcess | undefined;
	readonly #ending = new Map<ChildProcess, Promise<void>>();
	#cancelRetry: (() => void) | undefined;
	#failures = 0;
	#isClosed = false;

	constructor(options: SupervisorOptions) {
		this.name = options.name;
		this.#options = options;
		this.since = options.timing.now();
	}

	get pid(): number | undefined {
		return this.#current?.pid;
	}

	/** Resolves when it listens or has failed to start. */
	start(): Promise<Started> {
		this.isHalted = false;
		if (!this.#isClosed && !this.#current) this.#begin();
		return this.#started;
	}

	/** Ends the wait for a restart, for example because the configuration has changed. */
	retry(): void {
		if (this.state === "waiting") void this.start();
	}

	/** Stays stopped until `start`, which follows at once unless `isHalted`. Resolves when it has ended. */
	async stop(isHalted = true): Promise<void> {
		this.isHalted = isHalted;
		this.#cancelRetry?.();
		this.#failures = 0;
		this.issue = undefined;
		const current = this.#current;
		if (current) {
			this.#setState("stopping");
			await this.#end(current);
		}
		if (this.#current) return;
		this.#started = Promise.resolve({ reason: "it is stopped" });
		this.#setState("stopped");
	}

	/** Resolves when it listens or has failed to start. */
	async restart(): Promise<Started> {
		await this.stop(false);
		return this.start();
	}

	/** Ends the first process once the second one listens; if that takes too long, the second one is killed. */
	async replace(): Promise<Started> {
		const { log, timing } = this.#options;
		if (this.state !== "running") return this.restart();
		const next = this.#spawn();
		if ("reason" in next) return next;
		this.#next = next;
		const late = Promise.withResolvers<Started>();
		const cancel = timing.after(replacementMs, () =>
			late.resolve({ reason: `it did not listen within ${replacementMs} ms` }),
		);
		const started = await Promise.race([startOf(next), late.promise]);
		cancel();
		this.#next = undefined;
		if ("reason" in started || this.#isClosed) {
			next.kill("SIGKILL");
			await next.exited;
			log.error("could not replace a program: the old process continues", { name: this.name, ...started });
			return started;
		}
		this.#cancelRetry?.();
		// The first process may have ended meanwhile and may have been started again.
		const old = this.#current;
		this.#take(next);
		log.info("replaced a program", { name: this.name, pid: next.pid });
		if (old) void this.#end(old);
		return started;
	}

	/** For good. Resolves when all processes have ended. */
	async close(): Promise<void> {
		this.#isClosed = true;
		this.#cancelRetry?.();
		if (this.#current) this.#setState("stopping");
		for (const process of [this.#current, this.#next]) if (process) void this.#end(process);
		await Promise.all(this.#ending.values());
		this.#setState("stopped");
	}

	kill(): void {
		this.#isClosed = true;
		for (const process of [this.#current, this.#next, ...this.#ending.keys()]) process?.kill("SIGKILL");
	}

	#begin(): void {
		this.#cancelRetry?.();
		const process = this.#spawn();
		if ("reason" in process) {
			this.#started = Promise.resolve(process);
			this.#failed({ code: undefined, signal: undefined, ...process }, false);
		} else this.#take(process);
	}

	#spawn(): ChildProcess | { reason: string } {
		try {
			return this.#options.spawn();
		} catch (error) {
			return { reason: error instanceof Error ? error.message : String(error) };
		}
	}

	#take(process: ChildProcess): void {
		const { timing } = this.#options;
		const startedAt = timing.now();
		let hasListened = false;
		this.#current = process;
		this.#started = startOf(process);
		this.#setState("starting");
		void process.listening.then((url) => {
			hasListened = true;
			if (this.#current !== process || this.state !== "starting") return;
			this.url = url;
			this.issue = undefined;
			this.#setState("running");
		});
		void process.exited.then((exit) => {
			if (this.#current !== process) return;
			this.#current = undefined;
			if (this.state === "stopping" || this.#isClosed) return;
			if (timing.now() - startedAt >= steadyMs) this.#failures = 0;
			this.#failed(exit, hasListened);
		});
	}

	#failed(exit: Exit, hasListened: boolean): void {
		const { log } = this.#options;
		const reason = reasonOf(exit);
		const isNew = reason !== this.issue;
		if (hasListened) this.endReason = reason;
		else this.issue = reason;
		const fields = { name: this.name, code: exit.code, signal: exit.signal, retry_in_ms: this.#retryLater() };
		if (hasListened) log.warn("program ended: starting it again", fields);
		else if (isNew) log.error("program could not start: trying again", { ...fields, reason });
	}

	#retryLater(): number {
		const ms = doubledMs(this.#failures++, backOffMs);
		const cancel = this.#options.timing.after(ms, () => {
			this.restarts++;
			this.#begin();
		});
		this.#cancelRetry = () => {
			cancel();
			this.#cancelRetry = undefined;
		};
		this.#setState("waiting");
		return ms;
	}

	#end(process: ChildProcess): Promise<void> {
		// SIGTERM is sent only once: a second one would end the process without finishing its calls.
		const ending = this.#ending.get(process) ?? this.#endOnce(process);
		this.#ending.set(process, ending);
		return ending;
	}

	async #endOnce(process: ChildProcess): Promise<void> {
		const { timing, stopMs, log } = this.#options;
		process.kill("SIGTERM");
		const cancel = timing.after(stopMs(), () => {
			log.warn("program did not end in time: killing it", { name: this.name, pid: process.pid });
			process.kill("SIGKILL");
		});
		await process.exited;
		cancel();
		this.#ending.delete(process);
	}

	#setState(state: ProgramState): void {
		this.state = state;
		this.since = this.#options.timing.now();
	}
}

function startOf(process: ChildProcess): Promise<Started> {
	return Promise.race([
		process.listening.then((url) => ({ url })),
		process.exited.then((exit) => ({ reason: reasonOf(exit) })),
	]);
}

function reasonOf({ code, signal, reason }: Exit): string {
	if (reason) return reason;
	return signal === undefined ? `it ended with exit code ${code ?? "unknown"}` : `it ended with ${signal}`;
}
