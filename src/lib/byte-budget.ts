// A memory limit shared by unfinished responses. At the limit, the owner that holds most loses its largest response, so
// that one flooding sender does not affect the others.

/** An unfinished response, or another object whose buffered bytes count towards a memory limit (ByteBudget). */
export interface ByteHolder {
	/**
	 * Identifies the peer that sent the buffered bytes. When the memory limit is exceeded, the peer with the most
	 * buffered bytes loses its largest response.
	 */
	readonly owner: object;
	/** Number of bytes that this object has buffered. ByteBudget sets this property; initially 0. */
	heldBytes: number;
	/** Drops the buffered bytes. ByteBudget calls this at the memory limit, after it has stopped counting the bytes. */
	overflow(budget: ByteBudget): void;
}

export class ByteBudget {
	readonly #holders = new Set<ByteHolder>();
	#usedBytes = 0;

	constructor(readonly maxBytes: number) {}

	get usedBytes(): number {
		return this.#usedBytes;
	}

	/**
	 * Adds `bytes` to the number of bytes that the response `holder` has buffered. If all buffered responses together
	 * then exceed the memory limit, drops the largest response of the server with the most buffered bytes.
	 */
	hold(holder: ByteHolder, bytes: number): void {
		this.#holders.add(holder);
		holder.heldBytes += bytes;
		this.#usedBytes += bytes;
		while (this.#usedBytes > this.maxBytes) {
			const largest = this.#largest() ?? holder;
			this.release(largest);
			largest.overflow(this);
		}
	}

	/** Stops counting the bytes of `holder`, such as when its response is complete. */
	release(holder: ByteHolder): void {
		if (!this.#holders.delete(holder)) return;
		this.#usedBytes -= holder.heldBytes;
		holder.heldBytes = 0;
	}

	/** Returns the largest unfinished response of the peer that has sent the most buffered bytes in total. */
	#largest(): ByteHolder | undefined {
		const held = (holders: readonly ByteHolder[]) =>
			holders.reduce((sum, { heldBytes }) => sum + heldBytes, 0);
		return [...Map.groupBy(this.#holders, ({ owner }) => owner).values()]
			.toSorted((one, other) => held(other) - held(one))[0]
			?.toSorted((one, other) => other.heldBytes - one.heldBytes)[0];
	}
}
