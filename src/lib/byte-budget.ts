// A limit on the bytes of unfinished answers that all owners hold together. At the limit, the owner that holds most loses
// its largest answer, so that one sender who floods us cannot take the room of the others.

/** Something that holds bytes until it is released. */
export interface ByteHolder {
	/** Whose bytes they are: of all owners the one who holds most gives up first. */
	readonly owner: object;
	/** Kept by the budget; 0 to begin with. */
	heldBytes: number;
	/** Gives the bytes up. The budget has forgotten the holder. */
	overflow(budget: ByteBudget): void;
}

export class ByteBudget {
	readonly maxBytes: number;
	readonly #holders = new Set<ByteHolder>();
	#usedBytes = 0;

	constructor(maxBytes: number) {
		this.maxBytes = maxBytes;
	}

	/** What is held now. */
	get usedBytes(): number {
		return this.#usedBytes;
	}

	/** Counts more bytes of a holder. Holders overflow, perhaps this one, until all that is held fits. */
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

	/** Forgets a holder, whose bytes are free again. */
	release(holder: ByteHolder): void {
		if (!this.#holders.delete(holder)) return;
		this.#usedBytes -= holder.heldBytes;
		holder.heldBytes = 0;
	}

	/** Of the owner who holds most, the holder that does. */
	#largest(): ByteHolder | undefined {
		const byOwner = new Map<object, number>();
		for (const { owner, heldBytes } of this.#holders)
			byOwner.set(owner, (byOwner.get(owner) ?? 0) + heldBytes);
		let largest: ByteHolder | undefined;
		const most = Math.max(...byOwner.values());
		for (const holder of this.#holders)
			if (
				byOwner.get(holder.owner) === most &&
				holder.heldBytes > (largest?.heldBytes ?? 0)
			)
				largest = holder;
		return largest;
	}
}
