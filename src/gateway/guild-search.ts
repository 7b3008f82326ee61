// A guild that nobody is known to serve: a bot may have joined it, or logged in, since the maps were made.

import type { Signal } from "../lib/signal.ts";
import type { Backend } from "./backend.ts";
import { findGuild } from "./routing.ts";

/** At most so often is everyone asked because of a guild that nobody knows: anyone may name one. */
const minIntervalMs = 10_000;
/** How many calls may wait for that at once. */
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
	 * Asks every bot for its guilds, once for all who search meanwhile, and resolves as soon as one turns out to serve
	 * this guild, or all have answered, or the signal fires. Within 10 s of the last round it resolves at once, and so it
	 * does for who comes when a thousand wait.
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
