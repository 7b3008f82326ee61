// Asks all bots for their state, tools and guilds: once at the start, and again at an interval.

import type { Log } from "../../lib/log.ts";
import { stagger, whenFound } from "../../lib/stagger.ts";
import type { Backend } from "../backends/backend.ts";
import { RouteIndex } from "./routing.ts";

interface RefresherOptions {
	backends: readonly Backend[];
	intervalMs: number;
	/** Milliseconds after the first bot has listed its tools. */
	firstAnswersMs: number;
	log: Log;
}

export class Refresher {
	/** Settles when enough bots have listed their tools. Undefined before they are asked, and once settled. */
	firstList: Promise<unknown> | undefined;
	#refreshedAt = performance.now();
	#isStarted = false;
	#isClosed = false;
	#timer: Timer | undefined;

	constructor(private readonly options: RefresherOptions) {}

	/** Since all bots were last asked. */
	get ageMs(): number {
		return performance.now() - this.#refreshedAt;
	}

	async start(): Promise<void> {
		await this.refresh();
		if (!this.#isClosed) this.#timer = setTimeout(() => void this.start(), this.options.intervalMs);
	}

	stop(): void {
		this.#isClosed = true;
		clearTimeout(this.#timer);
	}

	/** Within 5 s. Never rejects. */
	async refresh(): Promise<void> {
		const { backends } = this.options;
		const rounds = stagger(backends, (backend) => backend.refresh()).map(async (refreshed, at) => {
			await refreshed;
			this.#logState(backends[at]);
		});
		const all = Promise.all(rounds);
		if (!this.#isStarted) {
			this.#isStarted = true;
			this.firstList = Promise.race([all, this.#someTools(rounds)]).finally(() => {
				this.firstList = undefined;
			});
		}
		await all;
		this.#refreshedAt = performance.now();
		this.#warnOfSharedGuilds();
	}

	/** A short time after the first bot; never if no bot lists tools. */
	async #someTools(rounds: readonly Promise<void>[]): Promise<void> {
		const { backends, firstAnswersMs } = this.options;
		await whenFound(rounds, () => backends.some(({ tools }) => tools));
		await Bun.sleep(firstAnswersMs);
	}

	#logState(backend: Backend | undefined): void {
		if (!backend?.state.online) return;
		const { name: instance, guilds } = backend;
		this.options.log.info("refreshed the guilds and tools of a bot", { instance, guilds: guilds.size });
	}

	#warnOfSharedGuilds(): void {
		const { backends, log } = this.options;
		const index = new RouteIndex(backends);
		for (const { name: ignored, guilds } of backends)
			for (const guild of guilds.keys()) {
				const instance = index.serving(guild)?.name ?? ignored;
				if (instance !== ignored)
					log.warn("guild is served by two bots: only one gets calls", { guild, instance, ignored });
			}
	}
}
