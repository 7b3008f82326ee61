// Numbers made small: medians, quantiles, cells of a table.

export function median(values: readonly number[]): number {
	return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}

/** A number in a column; "-" where there is none. */
export function cell(value: number | undefined, digits = 0, width = 10): string {
	return (value === undefined ? "-" : value.toFixed(digits)).padStart(width);
}

/** Prints a figure, next to its goal if it has one. */
export function show(name: string, value: number, unit: string, goal?: number): void {
	const end = goal === undefined ? "" : `  goal ${goal} ${unit}: ${value <= goal ? "met" : "MISSED"}`;
	console.log(`  ${name.padEnd(56)}${cell(value, 1)} ${unit}${end}`);
}

/** Buckets to a doubling: a quantile is right to 1.1 %. */
const bucketsPerOctave = 64;

/** Times in a fixed number of buckets, each a little wider than the one before. */
export class Histogram {
	readonly #counts = new Uint32Array(32 * bucketsPerOctave);
	#total = 0;

	add(ms: number): void {
		const octaves = Math.log2(Math.max(1, ms * 1000));
		const bucket = Math.floor(octaves * bucketsPerOctave);
		const last = this.#counts.length - 1;
		const index = Math.min(bucket, last);
		this.#counts[index] = (this.#counts[index] ?? 0) + 1;
		this.#total++;
	}

	/** The milliseconds that a part `q` of all took at most. */
	quantile(q: number): number {
		let left = q * this.#total;
		for (const [bucket, count] of this.#counts.entries()) {
			left -= count;
			if (left <= 0) return 2 ** ((bucket + 1) / bucketsPerOctave) / 1000;
		}
		return 0;
	}
}
