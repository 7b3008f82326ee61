// Cancellation signals: the part of AbortSignal that we use, a cheaper implementation, and the signals of calls: until a
// deadline, and until the client disconnects.

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

/** All calls have the same timeout, so they expire in the order of their start, and one timer is enough. */
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

const checkMs = 50;

const unwatched = new Set<ClientSignal>();
let timer: Timer | undefined;

/**
 * Aborts when the client disconnects, if possible without Bun's AbortSignal of the request: a signal that had a listener
 * stays in memory, with its request, until a full garbage collection. So that may be up to 100 ms later: it listens to
 * `request.signal` only after 50 ms.
 */
export class ClientSignal extends PlainSignal {
	isOld = false;
	#isWatched = false;

	constructor(private readonly request: Request) {
		super();
	}

	override addEventListener(type: "abort", listener: AbortListener): void {
		super.addEventListener(type, listener);
		if (this.#isWatched) return;
		unwatched.add(this);
		if (!timer) timer = setTimeout(check, checkMs);
	}

	override removeEventListener(type: "abort", listener: AbortListener): void {
		super.removeEventListener(type, listener);
		unwatched.delete(this);
		if (!this.#isWatched) return;
		this.#isWatched = false;
		this.request.signal.removeEventListener("abort", this);
	}

	/** The signal of the request may have aborted already. */
	watch(): void {
		this.#isWatched = true;
		const { signal } = this.request;
		if (signal.aborted) this.handleEvent();
		else signal.addEventListener("abort", this);
	}

	handleEvent(): void {
		this.abort(this.request.signal.reason);
	}
}

function check(): void {
	for (const signal of unwatched) {
		if (signal.isOld) {
			unwatched.delete(signal);
			signal.watch();
		} else signal.isOld = true;
	}
	timer = unwatched.size > 0 ? setTimeout(check, checkMs) : undefined;
}
