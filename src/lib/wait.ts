// Waits for work until a timeout, a signal or a shutdown, without cancelling it; and shares one run between callers.

import type { Signal } from "./signal.ts";

const shutdownGraceMs = 2_000;

/** "late" after `ms` milliseconds; errors after that are ignored. */
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

/** Waits on the global timer, which a rehearsal replaces. Rejects with the abort reason. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
	const { promise, resolve } = Promise.withResolvers<void>();
	const timer = setTimeout(resolve, ms);
	return signal ? raceSignal(promise, signal).finally(() => clearTimeout(timer)) : promise;
}

/** Rejects after an abort with the error of `toError`, by default the abort reason. */
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

/** Calls share the promise of a run of `work` that has not ended. */
export function singleFlight<T>(work: () => Promise<T>): () => Promise<T> {
	let running: Promise<T> | undefined;
	return () => {
		running ??= work().finally(() => {
			running = undefined;
		});
		return running;
	};
}

/** What a part has begun and must end before it closes. */
export class Pending {
	readonly #running = new Set<Promise<unknown>>();

	get size(): number {
		return this.#running.size;
	}

	/** Returns `work`. */
	add<T>(work: Promise<T>): Promise<T> {
		const ended: Promise<unknown> = Promise.allSettled([work]).then(() => this.#running.delete(ended));
		this.#running.add(ended);
		return work;
	}

	/** Also when work adds more. After 2 s at the latest: a shutdown does not wait longer for Discord. */
	async settled(): Promise<void> {
		const ended = async () => {
			while (this.size > 0) await Promise.all(this.#running);
		};
		await within(shutdownGraceMs, ended());
	}
}
