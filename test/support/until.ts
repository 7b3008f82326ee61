// Values that must exist: now, or later. Waits for a condition, never for a time.

/** The value, which the test knows to be there. */
export function present<T>(value: T | undefined | null, what = "the test relies on a value that is not there"): T {
	if (value !== undefined && value !== null) return value;
	throw new Error(what);
}

/** Generous for a loaded machine, and shorter than the timeout of a test, so that the error names the condition. */
const limitMs = 90_000;

/** Resolves with the first result of `look` that is neither undefined nor false. Rejects after 90 s. */
export async function until<T>(
	what: string,
	look: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
	const end = performance.now() + limitMs;
	// Later looks are rarer: many are requests, or start a program.
	for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 1.2, 100)) {
		const value = await look();
		if (value !== undefined && value !== false) return value;
		if (performance.now() > end) throw new Error(`never came: ${what}`);
		await Bun.sleep(pauseMs);
	}
}
