// Notices that the client of an HTTP request has disconnected, if possible without Bun's AbortSignal of the request: a signal
// that had a listener stays in memory, with its request, until a full garbage collection.

import { type AbortListener, PlainSignal } from "../lib/signal.ts";

const checkMs = 50;

const unwatched = new Set<ClientSignal>();
let timer: Timer | undefined;

/** Aborts when the client disconnects, or up to 100 ms later: it listens to `request.signal` only after 50 ms. */
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
