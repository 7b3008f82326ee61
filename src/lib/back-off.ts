// How long to wait before the next attempt.

/** Milliseconds: doubled with each failure before, up to the second number, and up to half of that less, by chance. */
export function backOffMs(
	failures: number,
	[firstMs, maxMs]: readonly [number, number],
): number {
	return Math.min(firstMs * 2 ** failures, maxMs) * (0.5 + Math.random() / 2);
}
