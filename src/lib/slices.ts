// Long work in slices of time, with other work in between.

/** Lets other work run whenever `sliceMs` have passed at a `yield`. */
export async function inSlices<T>(work: Iterator<unknown, T>, sliceMs: number): Promise<T> {
	for (;;) {
		const from = performance.now();
		let step = work.next();
		while (!step.done && performance.now() - from < sliceMs) step = work.next();
		if (step.done) return step.value;
		await nextTurn();
	}
}

export function atOnce<T>(work: Iterator<unknown, T>): T {
	let step = work.next();
	while (!step.done) step = work.next();
	return step.value;
}

export function nextTurn(): Promise<void> {
	// Not unref'd: Bun would delay it until the next event.
	return new Promise((resolve) => setImmediate(resolve));
}
