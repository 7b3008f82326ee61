// Deadlines of calls. All calls have the same timeout, so they expire in the order of their start, and one timer is enough.

import { PlainSignal, type Signal } from "./signal.ts";

/** The abort reason of a call that exceeded its deadline. */
export const timeIsUp = new DOMException(
	"no response before the deadline",
	"TimeoutError",
);
/** The abort reason of all calls at shutdown. */
export const stopped = new DOMException(
	"the program is stopping",
	"AbortError",
);

/** The signal of a call. It aborts at the deadline, at shutdown, or when the caller cancels; `reason` says which. */
class CallSignal extends PlainSignal {
	readonly #caller: Signal | undefined;
	readonly #onCallerAbort: (() => void) | undefined;

	constructor(
		/** The deadline, in milliseconds of the monotonic clock. */
		readonly endsAt: number,
		caller: Signal | undefined,
	) {
		super();
		if (!caller) return;
		this.#caller = caller;
		this.#onCallerAbort = () => this.abort(caller.reason);
		if (caller.aborted) this.#onCallerAbort();
		else caller.addEventListener("abort", this.#onCallerAbort);
	}

	detach(): void {
		if (this.#onCallerAbort)
			this.#caller?.removeEventListener("abort", this.#onCallerAbort);
	}
}

export class Deadlines {
	/** Calls that have not ended, in the order of their deadlines. */
	readonly #pending = new Set<CallSignal>();
	#timer: Timer | undefined;
	#isStopped = false;

	constructor(private readonly ms: number) {}

	/** Starts a call. Returns a signal that aborts at the deadline, at shutdown, or when `caller` aborts. */
	begin(caller: Signal | undefined): CallSignal {
		const signal = new CallSignal(performance.now() + this.ms, caller);
		if (this.#isStopped) signal.abort(stopped);
		this.#pending.add(signal);
		this.#timer ??= setTimeout(this.#expire, this.ms);
		return signal;
	}

	/** Ends a call: its signal no longer aborts. */
	end(signal: CallSignal): void {
		signal.detach();
		this.#pending.delete(signal);
	}

	/** Aborts all pending and future calls. */
	stop(): void {
		this.#isStopped = true;
		for (const signal of this.#pending) signal.abort(stopped);
	}

	#expire = () => {
		this.#timer = undefined;
		const now = performance.now();
		for (const signal of this.#pending) {
			const leftMs = signal.endsAt - now;
			if (leftMs > 0) {
				this.#timer = setTimeout(this.#expire, Math.ceil(leftMs));
				return;
			}
			this.#pending.delete(signal);
			signal.abort(timeIsUp);
		}
	};
}
