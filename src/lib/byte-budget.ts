// A shared memory limit for unfinished responses. At the limit, the owner that holds most loses its largest response, so
// that one flooding sender does not affect the others.

/** Something that holds bytes until it is released. */
export interface ByteHolder {
	/** Whose bytes these are. The owner that holds most overflows first. */
	readonly owner: object;
	/** Maintained by the budget; initially 0. */
	heldBytes: number;
	/** Drops the bytes. The budget has already released the holder. */
	overflow(budget: ByteBudget): void;
}

export class ByteBudget {
	readonly maxBytes: number;
	readonly #holders = new Set<ByteHolder>();
	#usedBytes = 0;

	constructor(maxBytes: number) {
		this.maxBytes = maxBytes;
	}

	/** Bytes held now. */
	get usedBytes(): number {
		return this.#usedBytes;
	}

	/** Adds bytes to a holder. Holders, possibly this one, overflow until the total fits. */
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
		const byOwner = new Map<object, number>();
		for (const { owner, heldBytes } of this.#holders)
			byOwner.set(owner, (byOwner.get(owner) ?? 0) + heldBytes);
		let largest: ByteHolder | undefined;
		const maxOwned = Math.max(...byOwner.values());
		for (const holder of this.#holders)
			if (
				byOwner.get(holder.owner) === maxOwned &&
				holder.heldBytes > (largest?.heldBytes ?? 0)
			)
				largest = holder;
		return largest;
	}
}
