// Cancellation signals: the part of AbortSignal that we use, and a cheaper implementation.

/** The part of AbortSignal that cancellable work needs. Listeners are called once, in any order, even if one throws. */
export interface Signal {
	readonly aborted: boolean;
	readonly reason: unknown;
	addEventListener(type: "abort", listener: () => void): void;
	removeEventListener(type: "abort", listener: () => void): void;
}

/** A Signal with its own `abort`. With an AbortController, the gateway takes over 10 % longer for a call. */
export class PlainSignal implements Signal {
	aborted = false;
	reason: unknown = undefined;
	#listeners: (() => void)[] = [];

	/** Aborts the signal and calls its listeners. Does nothing if it has aborted already. */
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

/** An AbortSignal that follows `signal`, for APIs that require one. It listens to `signal` as long as that exists. */
export function toAbortSignal(signal: Signal): AbortSignal {
	if (signal instanceof AbortSignal) return signal;
	const controller = new AbortController();
	const abort = () => controller.abort(signal.reason);
	if (signal.aborted) abort();
	else signal.addEventListener("abort", abort);
	return controller.signal;
}

/** Resolves when the signal aborts, or at once if it already has. */
export function aborted(signal: AbortSignal): Promise<void> {
	const { promise, resolve } = Promise.withResolvers<void>();
	if (signal.aborted) resolve();
	signal.addEventListener("abort", () => resolve(), { once: true });
	return promise;
}
