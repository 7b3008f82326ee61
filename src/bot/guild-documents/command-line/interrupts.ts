// Ctrl-C and other signals to a command that may have started a job.

import { CheckFailed } from "../../../lib/program/check.ts";

/** Two signals within this time are one Ctrl-C, because `bun run` forwards the terminal's signal. */
const secondSignalMs = 500;

export interface Interrupts {
	/** The latest signal: "cancel" the job, or "leave" it running and end the command. Undefined before the first. */
	readonly last: "cancel" | "leave" | undefined;
	/** Like `work`, but a signal rejects with a CheckFailed, unless `handle` was called before. */
	race<T>(work: Promise<T>): Promise<T>;
	/** Throws a CheckFailed if a signal has interrupted the command. */
	check(): void;
	/** From now on signals only set `last` and abort `next`, until `release`. */
	handle(): void;
	release(): void;
	/** Aborts at the next signal after `handle`. */
	next(): AbortSignal;
	/** Stops listening. */
	end(): void;
}

/** The first Ctrl-C means "cancel"; a second one, SIGTERM and SIGHUP mean "leave". */
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
