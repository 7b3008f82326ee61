// Waiting for a condition, never for time.

/** A safety net, for a loaded machine to be wide of: below the limit of a test, so that a failure says what never came. */
const limitMs = 90_000;

/** Resolves with the first value of `look` that is neither undefined nor false; rejects when none ever comes. */
export async function until<T>(
	what: string,
	look: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
	const end = performance.now() + limitMs;
	for (;;) {
		const value = await look();
		if (value !== undefined && value !== false) return value;
		if (performance.now() > end) throw new Error(`never came: ${what}`);
		await Bun.sleep(5);
	}
}
