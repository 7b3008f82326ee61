// Exponential back-off between attempts.

/** Milliseconds to wait before the next attempt: `firstMs`, doubled for each earlier failure, at most `maxMs`. */
export function doubledMs(
	failures: number,
	[firstMs, maxMs]: readonly [number, number],
): number {
	return Math.min(firstMs * 2 ** failures, maxMs);
}

/** Like `doubledMs`, but randomly up to half of that less, so that clients do not retry in lockstep. */
export function backOffMs(
	failures: number,
	range: readonly [number, number],
): number {
	return doubledMs(failures, range) * (0.5 + Math.random() / 2);
}
