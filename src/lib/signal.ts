// What tells work that nobody waits for it any more: an AbortSignal, or a plain object.

/**
 * The part of an AbortSignal that work needs which can be given up. Listeners are called once, in no order; one that throws
 * stops no other.
 */
export interface Signal {
	readonly aborted: boolean;
	readonly reason: unknown;
	addEventListener(type: "abort", listener: () => void): void;
	removeEventListener(type: "abort", listener: () => void): void;
}

/** A Signal that its owner fires. With an AbortController's in its place the gateway takes over 10 % longer for a call. */
export class PlainSignal implements Signal {
	aborted = false;
	reason: unknown = undefined;
	#listeners: (() => void)[] = [];

	/** Fires it, unless it has fired already. */
	abort(reason: unknown): void {
		if (this.aborted) return;
		this.aborted = true;
		this.reason = reason;
		const listeners = this.#listeners;
		this.#listeners = [];
		for (const listener of listeners)
			try {
				listener();
			} catch (error) {
				reportError(error);
			}
	}

	addEventListener(_: "abort", listener: () => void): void {
		if (!this.aborted) this.#listeners.push(listener);
	}

	removeEventListener(_: "abort", listener: () => void): void {
		const at = this.#listeners.indexOf(listener);
		if (at >= 0) this.#listeners.splice(at, 1);
	}
}

/** An AbortSignal that fires when `signal` does, for those that take no other. It listens for as long as there is a `signal`. */
export function toAbortSignal(signal: Signal): AbortSignal {
	if (signal instanceof AbortSignal) return signal;
	const controller = new AbortController();
	const abort = () => controller.abort(signal.reason);
	if (signal.aborted) abort();
	else signal.addEventListener("abort", abort);
	return controller.signal;
}

/** Resolves when the signal fires, or at once if it has fired already. */
export function aborted(signal: AbortSignal): Promise<void> {
	const { promise, resolve } = Promise.withResolvers<void>();
	if (signal.aborted) resolve();
	signal.addEventListener("abort", () => resolve(), { once: true });
	return promise;
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
