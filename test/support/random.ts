// Random choices that a seed repeats.

export interface Random {
	/** An integer from 0 to below `limit`. */
	below(limit: number): number;
	chance(probability: number): boolean;
	pick<T>(items: readonly T[]): T;
	/** `text` cut into pieces of random lengths. */
	cut(text: Uint8Array, maxPieces: number): Uint8Array[];
}

/** Mulberry32. */
export function seeded(seed: number): Random {
	let state = seed | 0;
	const next = () => {
		state = (state + 0x6d2b79f5) | 0;
		let t = Math.imul(state ^ (state >>> 15), 1 | state);
		t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
		return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
	};
	const below = (limit: number) => Math.floor(next() * limit);
	return {
		below,
		chance: (probability) => next() < probability,
		pick: (items) => items[below(items.length)] as (typeof items)[number],
		cut(text, maxPieces) {
			const ends = Array.from({ length: below(maxPieces) }, () => below(text.length + 1)).sort((a, b) => a - b);
			return [...ends, text.length].map((end, index) => text.subarray(ends[index - 1] ?? 0, end));
		},
	};
}
