// Several servers under the same load: in turn within each round, so that what else the machine does meets them all; what
// one costs of another is taken within a round, and of all rounds the median counts.

import { cell, median } from "./figures.ts";
import type { LoadFigures, LoadJob } from "./load.ts";
import type { LoadProcess, RemoteLoad } from "./load-process.ts";
import { cpuMicros } from "./processes.ts";

export interface Contender {
	name: string;
	job: LoadJob;
	/** Whose use of the processor counts. */
	pids: readonly number[];
}

export interface Effort {
	rounds: number;
	/** How long each is under load in a round. */
	ms: number;
}

interface Measured extends LoadFigures {
	/** What it used of the processor for a request, in microseconds. */
	micros: number;
}

export interface Compared {
	name: string;
	/** In the order of the rounds. */
	measured: readonly Measured[];
	/** Its processor time of that of the first contender, by rounds. */
	ratios: readonly number[];
}

/** Measures all of them; the first is what the others are compared with. */
export async function compare(
	load: LoadProcess,
	contenders: readonly Contender[],
	{ rounds, ms }: Effort,
): Promise<Compared[]> {
	const runs = await Promise.all(
		contenders.map(async (contender) => ({
			...contender,
			load: await load.open(contender.job),
			measured: [] as Measured[],
		})),
	);
	for (const run of runs) await run.load.run({ ms: ms / 2 });
	for (let round = 0; round < rounds; round++) {
		// Who comes first has no advantage in the end.
		const order = round % 2 === 0 ? runs : runs.toReversed();
		for (const run of order) run.measured.push(await measure(run.load, run.pids, ms));
	}
	for (const run of runs) await run.load.close();
	const first = runs[0]?.measured ?? [];
	return runs.map(({ name, measured }) => ({
		name,
		measured,
		ratios: measured.map(({ micros }, round) => micros / (first[round]?.micros ?? 0)),
	}));
}

async function measure(load: RemoteLoad, pids: readonly number[], ms: number): Promise<Measured> {
	const before = await cpuMicros(pids);
	const figures = await load.run({ ms });
	const used = (await cpuMicros(pids)) - before;
	return { ...figures, micros: used / figures.requests };
}

export const columns = `${"server".padEnd(24)}${"req/s".padStart(9)}${"CPU us".padStart(9)}${"of 1st".padStart(9)}${"(rounds)".padStart(15)}${"p50 ms".padStart(10)}${"p99 ms".padStart(10)}`;

/** A line for each. */
export function lines(compared: readonly Compared[]): string[] {
	return compared.map(({ name, measured, ratios }, index) => {
		const of = (pick: (one: Measured) => number) => median(measured.map(pick));
		const [least, most] = [Math.min(...ratios), Math.max(...ratios)];
		return [
			name.padEnd(24),
			cell(
				of(({ rate }) => rate),
				0,
				9,
			),
			cell(
				of(({ micros }) => micros),
				1,
				9,
			),
			cell(index === 0 ? undefined : median(ratios), 2, 9),
			(index === 0 ? "" : `(${least.toFixed(2)} to ${most.toFixed(2)})`).padStart(15),
			cell(
				of(({ p50 }) => p50),
				2,
			),
			cell(
				of(({ p99 }) => p99),
				2,
			),
		].join("");
	});
}

/** The processor time of one of that of another, for each round. */
export function ratiosOf({ measured }: Compared, { measured: other }: Compared): number[] {
	return measured.map(({ micros }, round) => micros / (other[round]?.micros ?? 0));
}

/** A line about ratios: their median, the least and the most of them, and whether the goal is met. */
export function goalLine(name: string, ratios: readonly number[], goal: number): string {
	const [least, most] = [Math.min(...ratios), Math.max(...ratios)];
	const met = median(ratios) <= goal ? "met" : "missed";
	return `${name}  ${median(ratios).toFixed(2)} (${least.toFixed(2)} to ${most.toFixed(2)}), goal ${goal} ${met}`;
}

/** How much longer one's answers take than the first's, as medians over rounds. */
export function added({ measured: first }: Compared, { measured }: Compared): { p50: number; p99: number } {
	const of = (pick: (one: Measured) => number) =>
		median(
			measured.map((one, round) => {
				const other = first[round];
				return pick(one) - (other ? pick(other) : 0);
			}),
		);
	return { p50: of(({ p50 }) => p50), p99: of(({ p99 }) => p99) };
}
