// Cancellation signals: the part of AbortSignal that we use, and a cheaper implementation.

/** An object that listens itself saves a closure for each call. */
export type AbortListener = (() => void) | { handleEvent(): void };

/** The part of AbortSignal that is used. Each listener is called once, in any order, even if another throws. */
export interface Signal {
	readonly aborted: boolean;
	readonly reason: unknown;
	addEventListener(type: "abort", listener: AbortListener): void;
	removeEventListener(type: "abort", listener: AbortListener): void;
}

/** A faster replacement for AbortController. */
export class PlainSignal implements Signal {
	aborted = false;
	reason: unknown = undefined;
	#listener: AbortListener | undefined;
	#others: AbortListener[] | undefined;

	abort(reason: unknown): void {
		if (this.aborted) return;
		this.aborted = true;
		this.reason = reason;
		const listeners = [this.#listener, ...(this.#others ?? [])];
		this.#listener = undefined;
		this.#others = undefined;
		for (const listener of listeners)
			try {
				if (typeof listener === "function") listener();
				else listener?.handleEvent();
			} catch (error) {
				reportError(error);
			}
	}

	addEventListener(_: "abort", listener: AbortListener): void {
		if (this.aborted) return;
		if (!this.#listener) {
			this.#listener = listener;
			return;
		}
		this.#others ??= [];
		this.#others.push(listener);
	}

	removeEventListener(_: "abort", listener: AbortListener): void {
		if (this.#listener === listener) {
			this.#listener = undefined;
			return;
		}
		const at = this.#others?.indexOf(listener) ?? -1;
		if (at >= 0) this.#others?.splice(at, 1);
	}
}

/** For APIs that require an AbortSignal. The listener on `signal` is never removed. */
export function toAbortSignal(signal: Signal): AbortSignal {
	if (signal instanceof AbortSignal) return signal;
	const controller = new AbortController();
	const abort = () => controller.abort(signal.reason);
	if (signal.aborted) abort();
	else signal.addEventListener("abort", abort);
	return controller.signal;
}

/** Resolves at once if aborted already. */
export function aborted(signal: AbortSignal): Promise<void> {
	const { promise, resolve } = Promise.withResolvers<void>();
	if (signal.aborted) resolve();
	signal.addEventListener("abort", () => resolve(), { once: true });
	return promise;
}
