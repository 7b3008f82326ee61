// Which bot serves a guild, by look-up instead of a search in every bot's guilds.

import type { Routed, RouteIndex } from "./routing.ts";

/**
 * Indexes bots by their names and guilds, as they are now. For each guild, the result is the same as that of
 * `findGuild`.
 */
export function indexBackends<One extends Routed>(backends: readonly One[]): RouteIndex<One> {
	const byName = new Map<string, One>();
	const byGuild = new Map<string, One>();
	const add = (map: Map<string, One>, key: string, backend: One) => {
		if (!map.has(key)) map.set(key, backend);
	};
	for (const backend of backends) {
		add(byName, backend.name, backend);
		for (const id of backend.pins.pinned) add(byGuild, id, backend);
	}
	for (const backend of backends) for (const id of backend.guilds.keys()) add(byGuild, id, backend);
	return {
		named: (name) => byName.get(name),
		serving: (guildId) => byGuild.get(guildId),
	};
}

/** An index of bots that is built again, when it is next needed, after the guilds of a bot have changed. */
export class GuildIndex<One extends Routed> {
	#index: RouteIndex<One> | undefined;
	/** The guilds of each bot that are in `#index`. A bot's guilds are replaced, never changed. */
	#indexed: readonly One["guilds"][] = [];

	constructor(private readonly backends: readonly One[]) {}

	/** Says that the guilds of a bot may have changed. */
	noteChange(): void {
		if (this.backends.some(({ guilds }, at) => guilds !== this.#indexed[at])) this.#index = undefined;
	}

	get now(): RouteIndex<One> {
		if (!this.#index) {
			this.#indexed = this.backends.map(({ guilds }) => guilds);
			this.#index = indexBackends(this.backends);
		}
		return this.#index;
	}
}
