// Searches for a guild that no bot is known to serve: since the last refresh, a bot may have joined it or logged in.

import type { Signal } from "../../lib/signal.ts";
import { stagger, whenFound } from "../../lib/stagger.ts";
import { raceSignal } from "../../lib/wait.ts";
import type { Backend } from "../backends/backend.ts";

const minIntervalMs = 10_000;
const maxWaiting = 1_000;

export class GuildSearch {
	#round: readonly Promise<void>[] | undefined;
	#waiting = 0;
	#lastAt = Number.NEGATIVE_INFINITY;

	constructor(private readonly backends: readonly Backend[]) {}

	/** Until found or all have responded. One search for all; none within 10 s of the last, or if 1,000 calls wait. */
	async search(signal: Signal, isFound: () => boolean): Promise<void> {
		const round = this.#join();
		if (!round || signal.aborted || this.#waiting >= maxWaiting) return;
		this.#waiting++;
		await raceSignal(Promise.race([whenFound(round, isFound), Promise.all(round)]), signal).catch(() => {});
		this.#waiting--;
	}

	#join(): readonly Promise<void>[] | undefined {
		if (this.#round) return this.#round;
		const now = performance.now();
		if (now - this.#lastAt < minIntervalMs) return undefined;
		this.#lastAt = now;
		const round = stagger(this.backends, (backend) => backend.refresh());
		this.#round = round;
		void Promise.all(round).then(() => {
			this.#round = undefined;
		});
		return round;
	}
}
