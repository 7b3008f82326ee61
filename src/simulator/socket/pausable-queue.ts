// Runs work at once, or in order after a pause.

export class PausableQueue {
	/** Work that waits for the end of the pause; undefined unless paused. */
	#waiting: (() => void)[] | undefined;

	/** Pauses, or resumes and runs the work that waits. */
	pause(paused: boolean): void {
		const waiting = this.#waiting ?? [];
		this.#waiting = paused ? waiting : undefined;
		if (!paused) for (const work of waiting) work();
	}

	/** Ends the pause and discards the work that waits. */
	clear(): void {
		this.#waiting = undefined;
	}

	run(work: () => void): void {
		if (this.#waiting) this.#waiting.push(work);
		else work();
	}
}
