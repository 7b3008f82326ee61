// Hands the messages of a socket on in slices of time. Bun reads a socket for as long as data arrives, before it serves
// any other: while Discord sends the members of a large guild, all calls would wait.

/** Milliseconds for which messages are handled before other work gets its turn. One message can take longer. */
const sliceMs = 5;

/**
 * Maximum length of the waiting messages, in characters: about the members of a guild with a million. Beyond it, the
 * oldest are handled at once, which stops reading, so that the sender has to wait.
 */
const maxWaitingLength = 2 ** 28;

export class Inbox {
	/** Texts that have arrived and are not handled yet. They take less memory than what they are parsed into. */
	#waiting: string[] = [];
	#next = 0;
	/** Number of characters of the waiting texts. */
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

	/** Handles a message at once, or, after messages that took long, when it is its turn. The order stays. */
	add(text: string): void {
		this.#turn ??= setImmediate(() => this.#work());
		if (this.isEmpty && this.#spentMs < sliceMs) {
			this.#handle(text);
			return;
		}
		this.#waiting.push(text);
		this.#length += text.length;
		while (this.#length > this.maxLength) this.#handleNext();
	}

	/** Drops all messages that are not handled yet. */
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
		const text = this.#waiting[this.#next] ?? "";
		// Its memory is free before the next message is handled.
		this.#waiting[this.#next] = "";
		this.#next += 1;
		this.#length -= text.length;
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
