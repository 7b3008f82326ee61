// Ctrl-C and other signals to a command that may have started a job.

import { CheckFailed } from "../../../lib/program/check.ts";

/** Two signals within this time are one Ctrl-C, because `bun run` forwards the terminal's signal. */
const secondSignalMs = 500;

export type Interrupts = ReturnType<typeof createInterrupts>;

/** The first Ctrl-C means "cancel"; a second one, SIGTERM and SIGHUP mean "leave". */
export function createInterrupts(
	source: Pick<NodeJS.Process, "on" | "off"> = process,
	now: () => number = () => performance.now(),
) {
	let last: "cancel" | "leave" | undefined;
	let cancelledAt: number | undefined;
	let isHandled = false;
	let error: CheckFailed | undefined;
	const interrupted = Promise.withResolvers<never>();
	// It is also rejected while nobody waits for it.
	interrupted.promise.catch(() => {});
	const hear = (meaning: "cancel" | "leave") => {
		if (isHandled) {
			last = meaning;
			return;
		}
		error ??= new CheckFailed("Interrupted. The guild was not changed.");
		interrupted.reject(error);
	};
	const leave = () => hear("leave");
	const listeners = {
		SIGINT() {
			if (cancelledAt !== undefined && isHandled && now() - cancelledAt < secondSignalMs) return;
			const isSecond = cancelledAt !== undefined && isHandled;
			if (!isSecond) cancelledAt = now();
			hear(isSecond ? "leave" : "cancel");
		},
		SIGTERM: leave,
		SIGHUP: leave,
	} as const;
	for (const [signal, listener] of Object.entries(listeners)) source.on(signal, listener);
	return {
		/** The latest signal: "cancel" the job, or "leave" it running and end the command. */
		get last() {
			return last;
		},
		/** Like `work`, but a signal rejects with a CheckFailed, unless `handle` was called before. */
		race: <T>(work: Promise<T>): Promise<T> => Promise.race([work, interrupted.promise]),
		/** Throws a CheckFailed if a signal has interrupted the command. */
		check() {
			if (error) throw error;
		},
		/** From now on signals only set `last`, until `release`. */
		handle() {
			isHandled = true;
		},
		release() {
			isHandled = false;
			last = undefined;
			cancelledAt = undefined;
		},
		/** Stops listening. */
		end() {
			for (const [signal, listener] of Object.entries(listeners)) source.off(signal, listener);
		},
	};
}
