// A memory limit shared by unfinished responses. At the limit, the owner that holds most loses its largest response, so
// that one flooding sender does not affect the others.

/**
 * An object with buffered bytes, such as an unfinished response. The bytes count towards the memory limit of a
 * ByteBudget.
 */
export interface ByteHolder {
	/**
	 * The object for which the bytes are buffered, such as an HTTP client. When all buffered bytes together exceed the
	 * memory limit, the owner with the most buffered bytes loses its largest response.
	 */
	readonly owner: object;
	/** Number of bytes that this object has buffered. ByteBudget sets this property; initially 0. */
	heldBytes: number;
	/** Called when the memory limit is exceeded and this object has to drop the bytes that it has buffered. */
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
	 * Records that the unfinished response `holder` has buffered `bytes` more bytes. While all unfinished responses
	 * together exceed the memory limit, drops the largest response of the owner with the most buffered bytes.
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

	/** Stops counting the buffered bytes of a response (`holder`), for example when the response is complete. */
	release(holder: ByteHolder): void {
		if (!this.#holders.delete(holder)) return;
		this.#usedBytes -= holder.heldBytes;
		holder.heldBytes = 0;
	}

	#largest(): ByteHolder | undefined {
		const held = (holders: readonly ByteHolder[]) => holders.reduce((sum, { heldBytes }) => sum + heldBytes, 0);
		return [...Map.groupBy(this.#holders, ({ owner }) => owner).values()]
			.toSorted((one, other) => held(other) - held(one))[0]
			?.toSorted((one, other) => other.heldBytes - one.heldBytes)[0];
	}
}
