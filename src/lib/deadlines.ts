// The deadlines of calls. All calls have the same time, so that who came first is late first: one timer serves them all.

import { PlainSignal, type Signal } from "./signal.ts";

/** The reason of the signal of a call whose time is up. */
export const timeIsUp = new DOMException("no answer in time", "TimeoutError");
/** The reason of the signals of all calls when the program stops. */
export const stopped = new DOMException("the program stops", "AbortError");

/** Fires when a call's time is up, when the program stops, or when the caller goes. Its reason says which. */
class CallSignal extends PlainSignal {
	readonly #caller: Signal | undefined;
	readonly #leave: (() => void) | undefined;

	constructor(
		/** Milliseconds of the monotonic clock. */
		readonly endsAt: number,
		caller: Signal | undefined,
	) {
		super();
		if (!caller) return;
		this.#caller = caller;
		this.#leave = () => this.abort(caller.reason);
		if (caller.aborted) this.#leave();
		else caller.addEventListener("abort", this.#leave);
	}

	/** Listens to the caller no longer. */
	letGo(): void {
		if (this.#leave) this.#caller?.removeEventListener("abort", this.#leave);
	}
}

export class Deadlines {
	readonly #ms: number;
	/** In the order of their ends. */
	readonly #pending = new Set<CallSignal>();
	#timer: Timer | undefined;
	#isStopped = false;

	constructor(ms: number) {
		this.#ms = ms;
	}

	/** Begins a call's time. `caller` fires when nobody waits for the answer any more. */
	begin(caller: Signal | undefined): CallSignal {
		const signal = new CallSignal(performance.now() + this.#ms, caller);
		if (this.#isStopped) signal.abort(stopped);
		this.#pending.add(signal);
		this.#timer ??= setTimeout(this.#expire, this.#ms);
		return signal;
	}

	/** The call is over. */
	end(signal: CallSignal): void {
		signal.letGo();
		this.#pending.delete(signal);
	}

	/** The time of all calls is up, and of all that come. */
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
