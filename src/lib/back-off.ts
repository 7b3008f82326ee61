// Exponential back-off between attempts.

/**
 * Returns the milliseconds to wait before retrying an operation. The wait doubles with each failure up to the maximum.
 */
export function doubledMs(failures: number, [firstMs, maxMs]: readonly [number, number]): number {
	return Math.min(firstMs * 2 ** failures, maxMs);
}

/**
 * Returns the milliseconds to wait before retrying an operation. The wait doubles with each failure up to the maximum
 * and is then shortened randomly by up to half, so that clients do not retry in lockstep.
 */
export function backOffMs(failures: number, range: readonly [number, number]): number {
	return doubledMs(failures, range) * (0.5 + Math.random() / 2);
}
