// How long to wait before the next attempt.

/** Milliseconds: the first number, doubled with each failure before, up to the second. */
export function doubledMs(
	failures: number,
	[firstMs, maxMs]: readonly [number, number],
): number {
	return Math.min(firstMs * 2 ** failures, maxMs);
}

/** As `doubledMs`, and up to half of that less, by chance: so that many do not try at the same time. */
export function backOffMs(
	failures: number,
	range: readonly [number, number],
): number {
	return doubledMs(failures, range) * (0.5 + Math.random() / 2);
}
