// Deadlines of calls. All calls have the same timeout, so they expire in the order of their start, and one timer is enough.

import { PlainSignal, type Signal } from "./signal.ts";

/** The reason with which the signal of a tool call aborts when no response arrives before the call's deadline. */
export const timeIsUp = new DOMException("no response before the deadline", "TimeoutError");
/** The reason with which the signals of all tool calls abort when the program stops. */
export const stopped = new DOMException("the program is stopping", "AbortError");

class CallSignal extends PlainSignal {
	constructor(
		readonly endsAt: number,
		readonly caller: Signal | undefined,
	) {
		super();
		if (caller?.aborted) this.handleEvent();
		else caller?.addEventListener("abort", this);
	}

	handleEvent(): void {
		this.abort(this.caller?.reason);
	}

	detach(): void {
		this.caller?.removeEventListener("abort", this);
	}
}

export class Deadlines {
	readonly #pending = new Set<CallSignal>();
	#timer: Timer | undefined;
	#isStopped = false;

	constructor(private readonly ms: number) {}

	/**
	 * Starts the deadline of a new call. Returns the call's abort signal, which aborts at the deadline, when the program
	 * stops, or when the signal `caller` aborts.
	 */
	begin(caller: Signal | undefined): CallSignal {
		const signal = new CallSignal(performance.now() + this.ms, caller);
		if (this.#isStopped) signal.abort(stopped);
		this.#pending.add(signal);
		this.#timer ??= setTimeout(this.#expire, this.ms);
		return signal;
	}

	/** Ends the deadline of a finished call: the call's abort signal no longer aborts. */
	end(signal: CallSignal): void {
		signal.detach();
		this.#pending.delete(signal);
	}

	/** Aborts the signals of all calls that have not ended, and of all calls that begin later. */
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
