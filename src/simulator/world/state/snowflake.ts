// Snowflakes, Discord's ids: the upper 42 bits are milliseconds since 2015. They are decimal strings and sort by time.
// https://discord.com/developers/docs/reference#snowflakes

const epochMs = 1_420_070_400_000;
const lowBits = 22n;
// Back-dated ids use the upper half of the numbers within a millisecond, other ids the lower half, so that none repeats.
const half = 1 << 21;

/** With the time `atMs` (milliseconds since 1970); without it now, and each id is greater than the previous one. */
type Snowflakes = (atMs?: number) => string;

export function createSnowflakes(): Snowflakes {
	let lastMs = 0;
	let count = 0;
	let backdated = 0;

	return (atMs) => {
		if (atMs !== undefined) {
			backdated = (backdated + 1) % half;
			return compose(atMs, half + backdated);
		}
		const now = Date.now();
		count = now > lastMs ? 0 : count + 1;
		lastMs = Math.max(lastMs, now);
		if (count === half) {
			lastMs += 1;
			count = 0;
		}
		return compose(lastMs, count);
	};
}

function compose(atMs: number, low: number): string {
	return String((BigInt(Math.trunc(atMs) - epochMs) << lowBits) | BigInt(low));
}

export function timeOf(id: string): number {
	return Number(BigInt(id) >> lowBits) + epochMs;
}

/** Keeps ids that are sent as numbers: https://discord.com/developers/docs/reference#id-serialization */
export function keepLargeIntegers(_key: string, value: unknown, context?: { source?: string }): unknown {
	if (!Number.isInteger(value) || Number.isSafeInteger(value)) return value;
	return /^\d+$/.exec(context?.source ?? "")?.[0] ?? value;
}

export function isSnowflake(text: string): boolean {
	return /^\d{1,20}$/.test(text) && BigInt(text) < 1n << 64n;
}
