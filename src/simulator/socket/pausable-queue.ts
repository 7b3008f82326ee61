// What may be held back, and comes later in its order.

export class Gate {
	/** What waits, while it is closed. */
	#waiting: (() => void)[] | undefined;

	/** Whether work waits from now on; what waited is done once it need no longer. */
	hold(held: boolean): void {
		const waiting = this.#waiting ?? [];
		this.#waiting = held ? waiting : undefined;
		if (!held) for (const work of waiting) work();
	}

	/** Does `work` now, or when it need no longer wait. */
	pass(work: () => void): void {
		if (this.#waiting) this.#waiting.push(work);
		else work();
	}
}
