// Ctrl-C and other signals to a command that may have started a job.

import { CheckFailed } from "../../../lib/program/check.ts";

/**
 * Two signals within this many milliseconds count as one press of Ctrl-C, because `bun run` forwards the terminal's
 * signal.
 */
const secondSignalMs = 500;

export interface Interrupts {
	/**
	 * What the operator wants according to the latest signal, such as Ctrl-C. "cancel": cancel the job that makes changes
	 * to the guild. "leave": end the command and let the job continue. Undefined before the first signal.
	 */
	readonly last: "cancel" | "leave" | undefined;
	/**
	 * Settles like `work`. But if a signal such as Ctrl-C arrives earlier, rejects with a CheckFailed, unless `handle`
	 * was called before.
	 */
	race<T>(work: Promise<T>): Promise<T>;
	/**
	 * Throws a CheckFailed if a signal such as Ctrl-C has interrupted the command, so that the command does not continue.
	 */
	check(): void;
	/**
	 * After this call, signals such as Ctrl-C no longer interrupt the command: they only set `last` and abort the
	 * AbortSignal from `next`. `release` ends this.
	 */
	handle(): void;
	release(): void;
	/** Returns an AbortSignal that aborts when the process receives the next signal after a call of `handle`. */
	next(): AbortSignal;
	/** Stops listening for signals to the process. */
	end(): void;
}

/**
 * Listens for signals to the process. The first Ctrl-C means "cancel". A second Ctrl-C, SIGTERM and SIGHUP mean
 * "leave".
 */
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
