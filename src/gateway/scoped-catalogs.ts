// The tools and prompts that clients with limits see: as the bots list them for these limits, merged like all others and
// cached for each combination of limits.

import { LruMap } from "../lib/lru-map.ts";
import type { Principal } from "../lib/principal.ts";
import { ToolList } from "../mcp/fast/tool-list.ts";
import type { BackendOffer } from "./backend.ts";
import { buildCatalog, type Catalog } from "./catalog.ts";
import type { BackendView } from "./views.ts";

/** Maximum number of combinations of limits whose lists are cached. */
const maxCombinations = 100;
const requestTimeoutMs = 2_000;

export interface ScopedCatalog extends Pick<Catalog, "skew"> {
	toolList: ToolList;
	/** What each bot offers, by its name. A bot that has never answered is absent. */
	offers: ReadonlyMap<string, BackendOffer>;
}

/**
 * Returns the bots that a principal sees, with what they offer to it. Resolves within a few seconds, and never rejects.
 */
export type See = (
	principal: Principal,
) => Promise<{ views: readonly BackendView[]; catalog: ScopedCatalog }>;

interface Entry {
	/** The state of the bots for which `loading` was started. */
	version: number;
	loading: Promise<ScopedCatalog> | undefined;
	/** The latest lists. They count for bots that do not answer. */
	last: ScopedCatalog | undefined;
}

export class ScopedCatalogs {
	readonly #entries = new LruMap<string, Entry>(maxCombinations);
	#version = 0;

	/** Tells that the tools of bots, or which of them are online, may have changed: lists are loaded anew when needed. */
	expire(): void {
		this.#version++;
	}

	/**
	 * Returns the lists of the bots in `views` for the access and toolsets of a principal. Asks the bots if something may
	 * have changed since they were last asked. Concurrent calls share one load. Never rejects.
	 */
	get(
		{ access, toolsets }: Principal,
		views: readonly BackendView[],
	): Promise<ScopedCatalog> {
		const sorted = toolsets && [...toolsets].sort();
		const names = views.map(({ name }) => name);
		const key = JSON.stringify([access, sorted ?? null, names]);
		const entry = this.#entries.getOrMake(
			key,
			(): Entry => ({ version: -1, loading: undefined, last: undefined }),
		);
		if (entry.loading && entry.version === this.#version) return entry.loading;
		entry.version = this.#version;
		// Bots list their tools by these limits alone, so one list serves all principals that have them.
		const scope: Principal = {
			id: "lists",
			name: "lists",
			access,
			toolsets: sorted,
		};
		entry.loading = this.#load(entry, scope, views);
		return entry.loading;
	}

	async #load(
		entry: Entry,
		scope: Principal,
		views: readonly BackendView[],
	): Promise<ScopedCatalog> {
		const signal = AbortSignal.timeout(requestTimeoutMs);
		const offers = new Map<string, BackendOffer>();
		await Promise.all(
			views.map(async ({ name, state, backend }) => {
				const known = entry.last?.offers.get(name);
				if (known) offers.set(name, known);
				if (!state.online) return;
				try {
					offers.set(name, await backend.offer(scope, signal));
				} catch {
					// The backend has noted whether it is offline. The next call asks again.
					entry.version = -1;
				}
			}),
		);
		const sources = views.map(({ name }) => ({
			name,
			tools: offers.get(name)?.tools,
		}));
		// Definitions of a bot that answers come first, as in the list of all tools.
		const healthy = views.findIndex(
			({ name, state }) => state.online && offers.has(name),
		);
		sources.unshift(...sources.splice(Math.max(0, healthy), 1));
		const { list, skew } = buildCatalog(sources);
		const known = entry.last?.toolList;
		const toolList = known?.text === list ? known : new ToolList(list);
		entry.last = { toolList, skew, offers };
		return entry.last;
	}
}
