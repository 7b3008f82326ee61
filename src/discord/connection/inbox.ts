// Hands the messages of a socket on in slices of time. Bun reads a socket for as long as data arrives, before it serves
// any other: while Discord sends the members of a large guild, all calls would wait.

const sliceMs = 5;

/** In bytes: about the members of a guild with a million. Beyond it, reading stops, so that the sender waits. */
const maxWaitingLength = 2 ** 28;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const nothing = new Uint8Array(0);

export class Inbox {
	/**
	 * Bytes, because their memory can be freed at once: strings that have waited are collected up to ten seconds later.
	 */
	#waiting: Uint8Array<ArrayBuffer>[] = [];
	#next = 0;
	#length = 0;
	#spentMs = 0;
	#turn: NodeJS.Immediate | undefined;

	constructor(
		private readonly handle: (text: string) => void,
		private readonly maxLength = maxWaitingLength,
	) {}

	get isEmpty(): boolean {
		return this.#next === this.#waiting.length;
	}

	/** At once, or, after messages that took long, when it is its turn. The order stays. */
	add(text: string): void {
		this.#turn ??= setImmediate(() => this.#work());
		if (this.isEmpty && this.#spentMs < sliceMs) {
			this.#handle(text);
			return;
		}
		const bytes = encoder.encode(text);
		this.#waiting.push(bytes);
		this.#length += bytes.length;
		while (this.#length > this.maxLength) this.#handleNext();
	}

	clear(): void {
		this.#waiting = [];
		this.#next = 0;
		this.#length = 0;
	}

	#work(): void {
		this.#turn = undefined;
		this.#spentMs = 0;
		if (this.isEmpty) return;
		this.#turn = setImmediate(() => this.#work());
		while (!this.isEmpty && this.#spentMs < sliceMs) this.#handleNext();
	}

	#handleNext(): void {
		const bytes = this.#waiting[this.#next] ?? nothing;
		this.#waiting[this.#next] = nothing;
		this.#next += 1;
		this.#length -= bytes.length;
		const text = decoder.decode(bytes);
		// Frees the memory of the bytes.
		bytes.buffer.transfer(0);
		if (this.isEmpty) this.clear();
		this.#handle(text);
	}

	#handle(text: string): void {
		const from = performance.now();
		try {
			this.handle(text);
		} finally {
			this.#spentMs += performance.now() - from;
		}
	}
}
