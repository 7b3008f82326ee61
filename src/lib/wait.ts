// Waiting for work no longer than a time, or than a signal allows. The work itself is not cancelled.

import type { Signal } from "./signal.ts";

/** The result of `work`, or "late" after `ms`. Rejects as `work` does; a later failure of `work` is ignored. */
export async function within<T>(
	ms: number,
	work: T | PromiseLike<T>,
): Promise<T | "late"> {
	const { promise: late, resolve } = Promise.withResolvers<"late">();
	const timer = setTimeout(resolve, ms, "late");
	try {
		return await Promise.race([work, late]);
	} finally {
		clearTimeout(timer);
	}
}

/** Settles as `work` does, or rejects with the signal's reason if that fires before. A later failure of `work` is ignored. */
export async function raceSignal<T>(
	work: Promise<T>,
	signal: Signal,
): Promise<T> {
	const { promise, reject } = Promise.withResolvers<never>();
	const abort = () => reject(signal.reason);
	signal.addEventListener("abort", abort);
	if (signal.aborted) abort();
	try {
		return await Promise.race([promise, work]);
	} finally {
		signal.removeEventListener("abort", abort);
	}
}
