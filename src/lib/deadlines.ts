// Deadlines of calls. All calls have the same timeout, so they expire in the order of their start, and one timer is enough.

import { PlainSignal, type Signal } from "./signal.ts";

export const timeIsUp = new DOMException("no response before the deadline", "TimeoutError");
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

	/** The signal aborts at the deadline, when the program stops, or when `caller` aborts. */
	begin(caller: Signal | undefined): CallSignal {
		const signal = new CallSignal(performance.now() + this.ms, caller);
		if (this.#isStopped) signal.abort(stopped);
		this.#pending.add(signal);
		this.#timer ??= setTimeout(this.#expire, this.ms);
		return signal;
	}

	end(signal: CallSignal): void {
		signal.detach();
		this.#pending.delete(signal);
	}

	/** Aborts all calls that have not ended, and all later ones. */
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
