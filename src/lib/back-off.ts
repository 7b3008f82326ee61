// Exponential back-off between attempts.

/** Milliseconds to wait before a retry: doubles with each failure up to the maximum. */
export function doubledMs(failures: number, [firstMs, maxMs]: readonly [number, number]): number {
	return Math.min(firstMs * 2 ** failures, maxMs);
}

/** Like `doubledMs`, then shortened randomly by up to half, so that clients do not retry in lockstep. */
export function backOffMs(failures: number, range: readonly [number, number]): number {
	return doubledMs(failures, range) * (0.5 + Math.random() / 2);
}
