// Long work in slices of time, with other work in between.

/**
 * Runs a generator to its end and returns its result. Whenever it has taken `sliceMs` by its next `yield`, other work gets
 * its turn.
 */
export async function inSlices<T>(work: Iterator<unknown, T>, sliceMs: number): Promise<T> {
	for (;;) {
		const from = performance.now();
		let step = work.next();
		while (!step.done && performance.now() - from < sliceMs) step = work.next();
		if (step.done) return step.value;
		await nextTurn();
	}
}

/** Runs a generator to its end without a pause. */
export function atOnce<T>(work: Iterator<unknown, T>): T {
	let step = work.next();
	while (!step.done) step = work.next();
	return step.value;
}

/** Resolves when other work that is due has had its turn. */
export function nextTurn(): Promise<void> {
	// Not unref'd: Bun would delay it until the next event.
	return new Promise((resolve) => setImmediate(resolve));
}
