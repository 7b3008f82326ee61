// A memory limit shared by unfinished responses. At the limit, the owner that holds most loses its largest response, so
// that one flooding sender does not affect the others.

/** Something with buffered bytes that count towards a ByteBudget. */
export interface ByteHolder {
	/** The owner of the bytes, such as an HTTP client; at the limit, the largest owner loses its largest response. */
	readonly owner: object;
	/** Set by ByteBudget; initially 0. */
	heldBytes: number;
	/** Must drop the buffered bytes: the limit is exceeded. */
	overflow(budget: ByteBudget): void;
}

export class ByteBudget {
	readonly #holders = new Set<ByteHolder>();
	usedBytes = 0;

	constructor(readonly maxBytes: number) {}

	/** Counts `bytes` more. Over the limit, drops the largest response of the owner that holds most. */
	hold(holder: ByteHolder, bytes: number): void {
		this.#holders.add(holder);
		holder.heldBytes += bytes;
		this.usedBytes += bytes;
		while (this.usedBytes > this.maxBytes) {
			const largest = this.#largest() ?? holder;
			this.release(largest);
			largest.overflow(this);
		}
	}

	release(holder: ByteHolder): void {
		if (!this.#holders.delete(holder)) return;
		this.usedBytes -= holder.heldBytes;
		holder.heldBytes = 0;
	}

	#largest(): ByteHolder | undefined {
		const held = (holders: readonly ByteHolder[]) => holders.reduce((sum, { heldBytes }) => sum + heldBytes, 0);
		return [...Map.groupBy(this.#holders, ({ owner }) => owner).values()]
			.toSorted((one, other) => held(other) - held(one))[0]
			?.toSorted((one, other) => other.heldBytes - one.heldBytes)[0];
	}
}
