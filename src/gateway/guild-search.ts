// Searches for a guild that no bot is known to serve: one may have joined it, or logged in, since the last refresh.

import type { Signal } from "../lib/signal.ts";
import type { Backend } from "./backend.ts";
import { findGuild } from "./routing.ts";

/** Pause between two searches: anyone may name unknown guilds. */
const minIntervalMs = 10_000;
/** Calls that may wait for a search at once. */
const maxWaiting = 1_000;

export class GuildSearch {
	readonly #backends: readonly Backend[];
	#round: readonly Promise<void>[] | undefined;
	#waiting = 0;
	#lastAt = Number.NEGATIVE_INFINITY;

	constructor(backends: readonly Backend[]) {
		this.#backends = backends;
	}

	/**
	 * Refreshes every bot, once for all concurrent searches. Resolves as soon as one of them serves this guild, all have
	 * responded, or the signal fires; at once within 10 s after the last search, or if 1,000 calls wait already.
	 */
	async search(guildId: string, signal: Signal): Promise<void> {
		const round = this.#join();
		if (!round || signal.aborted || this.#waiting >= maxWaiting) return;
		const { promise, resolve } = Promise.withResolvers<void>();
		const look = () => {
			if (findGuild(this.#backends, guildId)) resolve();
		};
		const stop = () => resolve();
		signal.addEventListener("abort", stop);
		for (const answered of round) void answered.then(look);
		void Promise.all(round).then(stop);
		this.#waiting++;
		await promise;
		this.#waiting--;
		signal.removeEventListener("abort", stop);
	}

	#join(): readonly Promise<void>[] | undefined {
		if (this.#round) return this.#round;
		const now = performance.now();
		if (now - this.#lastAt < minIntervalMs) return undefined;
		this.#lastAt = now;
		const round = this.#backends.map((backend) => backend.refresh());
		this.#round = round;
		void Promise.all(round).then(() => {
			this.#round = undefined;
		});
		return round;
	}
}
