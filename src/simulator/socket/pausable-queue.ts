// Runs work at once, or in order after a pause.

export class PausableQueue {
	#waiting: (() => void)[] | undefined;

	/** Pauses the queue (true), or resumes it and calls the functions that were added during the pause (false). */
	pause(paused: boolean): void {
		const waiting = this.#waiting ?? [];
		this.#waiting = paused ? waiting : undefined;
		if (!paused) for (const work of waiting) work();
	}

	/** Resumes the queue without calling the functions that were added while it was paused. */
	clear(): void {
		this.#waiting = undefined;
	}

	run(work: () => void): void {
		if (this.#waiting) this.#waiting.push(work);
		else work();
	}
}
