// A memory limit shared by unfinished responses. At the limit, the owner that holds most loses its largest response, so
// that one flooding sender does not affect the others.

/** A response, or anything else that holds bytes until it is released. */
export interface ByteHolder {
	/** The sender of the bytes. At the limit, the owner that holds most loses a response. */
	readonly owner: object;
	/** Maintained by the budget; initially 0. */
	heldBytes: number;
	/** Called at the limit, after the budget has released the holder: drops the bytes. */
	overflow(budget: ByteBudget): void;
}

export class ByteBudget {
	readonly #holders = new Set<ByteHolder>();
	#usedBytes = 0;

	constructor(readonly maxBytes: number) {}

	get usedBytes(): number {
		return this.#usedBytes;
	}

	/** Adds bytes to a holder. While the total exceeds the limit, holders overflow, possibly including this one. */
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

	/** Removes a holder and frees its bytes. */
	release(holder: ByteHolder): void {
		if (!this.#holders.delete(holder)) return;
		this.#usedBytes -= holder.heldBytes;
		holder.heldBytes = 0;
	}

	/** The largest holder of the owner that holds most. */
	#largest(): ByteHolder | undefined {
		const held = (holders: readonly ByteHolder[]) =>
			holders.reduce((sum, { heldBytes }) => sum + heldBytes, 0);
		return [...Map.groupBy(this.#holders, ({ owner }) => owner).values()]
			.toSorted((one, other) => held(other) - held(one))[0]
			?.toSorted((one, other) => other.heldBytes - one.heldBytes)[0];
	}
}
