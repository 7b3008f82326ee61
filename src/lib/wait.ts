// Waits for work until a timeout or a signal, without cancelling the work; and shares one run of work between callers.

import type { Signal } from "./signal.ts";

/**
 * Waits for `work` for up to `ms` milliseconds. Resolves with the result of `work`, or with "late" after this time.
 * Rejects if `work` rejects in time; later errors of `work` are ignored.
 */
export function within<T>(ms: number, work: T | PromiseLike<T>): Promise<T | "late"> {
	return new Promise((resolve, reject) => {
		const timer = setTimeout(resolve, ms, "late");
		Promise.resolve(work).then(
			(result) => {
				clearTimeout(timer);
				resolve(result);
			},
			(error) => {
				clearTimeout(timer);
				reject(error);
			},
		);
	});
}

/**
 * Waits for `work` until `signal` aborts. Settles with the result or error of `work`. If the signal aborts first,
 * rejects with the error that `toError` returns, by default the signal's abort reason.
 */
export async function raceSignal<T>(
	work: Promise<T>,
	signal: Signal,
	toError: (signal: Signal) => unknown = ({ reason }) => reason,
): Promise<T> {
	const { promise, reject } = Promise.withResolvers<never>();
	const abort = () => reject(toError(signal));
	signal.addEventListener("abort", abort);
	if (signal.aborted) abort();
	try {
		return await Promise.race([promise, work]);
	} finally {
		signal.removeEventListener("abort", abort);
	}
}

/**
 * Returns a function that calls `work`. While a call of `work` runs, further calls of the function return the promise
 * of that run.
 */
export function singleFlight<T>(work: () => Promise<T>): () => Promise<T> {
	let running: Promise<T> | undefined;
	return () => {
		running ??= work().finally(() => {
			running = undefined;
		});
		return running;
	};
}
