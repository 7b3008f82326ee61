// Runs work at once, or in order after a pause.

export class PausableQueue {
	/** Undefined unless paused. */
	#waiting: (() => void)[] | undefined;

	/** Pauses, or resumes and runs what waits. */
	pause(paused: boolean): void {
		const waiting = this.#waiting ?? [];
		this.#waiting = paused ? waiting : undefined;
		if (!paused) for (const work of waiting) work();
	}

	/** Resumes without running what waits. */
	clear(): void {
		this.#waiting = undefined;
	}

	run(work: () => void): void {
		if (this.#waiting) this.#waiting.push(work);
		else work();
	}
}
