// Ctrl-C and other signals to a command that may have started a job.

import { CheckFailed } from "../../../lib/check.ts";

/**
 * Two signals within this many milliseconds count as one press of Ctrl-C, because `bun run` forwards the terminal's
 * signal.
 */
const secondSignalMs = 500;

export interface Interrupts {
	/** What the last signal means: cancel the job, or leave it and end. */
	readonly last: "cancel" | "leave" | undefined;
	/** Settles like `work`. Rejects with a CheckFailed at a signal, unless `handle` was called. */
	race<T>(work: Promise<T>): Promise<T>;
	/** Throws a CheckFailed after a signal that ended the command. */
	check(): void;
	/** From now on signals only set `last` and abort `next`, until `release` is called. */
	handle(): void;
	release(): void;
	/** Returns a signal that aborts at the next signal to the process. */
	next(): AbortSignal;
	/** Restores what signals did before. */
	end(): void;
}

/** The first Ctrl-C means "cancel"; a second one, or a signal to end, means "leave". */
export function createInterrupts(
	source: Pick<NodeJS.Process, "on" | "off"> = process,
	now: () => number = () => performance.now(),
): Interrupts {
	let last: Interrupts["last"];
	let cancelledAt: number | undefined;
	let isHandled = false;
	let next = new AbortController();
	let error: CheckFailed | undefined;
	const interrupted = Promise.withResolvers<never>();
	// It is also rejected while nobody waits for it.
	interrupted.promise.catch(() => {});
	const heard = (meaning: "cancel" | "leave") => {
		if (!isHandled) {
			error ??= new CheckFailed("Interrupted. The guild was not changed.");
			interrupted.reject(error);
			return;
		}
		last = meaning;
		const heardBy = next;
		next = new AbortController();
		heardBy.abort();
	};
	const interrupt = () => {
		if (cancelledAt === undefined || !isHandled) {
			cancelledAt = now();
			heard("cancel");
		} else if (now() - cancelledAt >= secondSignalMs) heard("leave");
	};
	const leave = () => heard("leave");
	source.on("SIGINT", interrupt);
	source.on("SIGTERM", leave);
	source.on("SIGHUP", leave);
	return {
		get last() {
			return last;
		},
		race: (work) => Promise.race([work, interrupted.promise]),
		check() {
			if (error) throw error;
		},
		handle() {
			isHandled = true;
		},
		release() {
			isHandled = false;
			last = undefined;
			cancelledAt = undefined;
		},
		next: () => next.signal,
		end() {
			source.off("SIGINT", interrupt);
			source.off("SIGTERM", leave);
			source.off("SIGHUP", leave);
		},
	};
}
