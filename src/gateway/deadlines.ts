// The deadlines of calls. All calls have the same time, so that who came first is late first: one timer serves them all,
// where an AbortSignal.timeout each would cost as much as the rest of the gateway's own work.

/** A call that has so much time and no more. */
export interface Deadline {
	/** Fires when the time is up, when the gateway stops, or when the caller goes. Its reason says which. */
	readonly signal: AbortSignal;
	/** The call is over. */
	end(): void;
}

/** The reason of the signal of a call whose time is up. */
export const timeIsUp = new DOMException("no answer in time", "TimeoutError");
/** The reason of the signals of all calls when the gateway stops. */
export const stopped = new DOMException("the gateway stops", "AbortError");

interface Pending {
	controller: AbortController;
	endsAt: number;
}

export class Deadlines {
	readonly #ms: number;
	/** In the order of their ends. */
	readonly #pending = new Set<Pending>();
	#timer: Timer | undefined;
	#isStopped = false;

	constructor(ms: number) {
		this.#ms = ms;
	}

	/** Begins a call's time. `caller` fires when nobody waits for the answer any more. */
	begin(caller: AbortSignal | undefined): Deadline {
		const controller = new AbortController();
		const { signal } = controller;
		if (this.#isStopped) controller.abort(stopped);
		const pending = { controller, endsAt: performance.now() + this.#ms };
		this.#pending.add(pending);
		this.#timer ??= setTimeout(this.#expire, this.#ms);
		if (!caller) return { signal, end: () => this.#end(pending) };
		const leave = () => controller.abort(caller.reason);
		caller.addEventListener("abort", leave, { once: true });
		if (caller.aborted) leave();
		return {
			signal,
			end: () => {
				caller.removeEventListener("abort", leave);
				this.#end(pending);
			},
		};
	}

	/** The time of all calls is up, and of all that come. */
	stop(): void {
		this.#isStopped = true;
		for (const { controller } of this.#pending) controller.abort(stopped);
	}

	#end(pending: Pending): void {
		this.#pending.delete(pending);
	}

	#expire = () => {
		this.#timer = undefined;
		const now = performance.now();
		for (const pending of this.#pending) {
			const leftMs = pending.endsAt - now;
			if (leftMs > 0) {
				this.#timer = setTimeout(this.#expire, Math.ceil(leftMs));
				return;
			}
			this.#pending.delete(pending);
			pending.controller.abort(timeIsUp);
		}
	};
}
