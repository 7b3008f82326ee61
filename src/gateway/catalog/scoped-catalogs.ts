// The tools and prompts that clients with limits see: as the bots list them for these limits, merged like all others and
// cached for each combination of limits.

import { LruMap } from "../../lib/lru-map.ts";
import type { Principal } from "../../lib/principal.ts";
import { stagger } from "../../lib/stagger.ts";
import { ToolList } from "../../mcp/tool-list.ts";
import type { BackendOffer } from "../backends/backend.ts";
import type { BackendView, Views } from "../principals/views.ts";
import { buildCatalog, type Catalog } from "./catalog.ts";

const maxCombinations = 100;
const requestTimeoutMs = 2_000;

interface ScopedCatalog extends Pick<Catalog, "skew"> {
	toolList: ToolList;
	/** By bot name: the last lists for these limits. A bot that has never answered is absent. */
	offers: ReadonlyMap<string, BackendOffer>;
}

interface Entry {
	version: number;
	loading: Promise<ScopedCatalog> | undefined;
	last: ScopedCatalog | undefined;
}

export class ScopedCatalogs {
	readonly #entries = new LruMap<string, Entry>(maxCombinations);
	#version = 0;

	/** `firstList`: a promise while the bots are asked for the first time. */
	constructor(
		private readonly views: Views,
		private readonly timeoutMs: number,
		private readonly firstList: () => Promise<unknown> | undefined,
	) {}

	/** The bots that the principal may see, and what they list for it. Within a few seconds; never rejects. */
	async see(principal: Principal): Promise<{ views: readonly BackendView[]; catalog: ScopedCatalog }> {
		await this.firstList();
		const views = await this.views.load(principal, AbortSignal.timeout(this.timeoutMs));
		const catalog = await this.#get(principal, views);
		for (const view of views) {
			const offer = catalog.offers.get(view.name);
			view.dropped = offer?.dropped ?? [];
			view.prompts = offer?.prompts ?? [];
		}
		return { views, catalog };
	}

	/** A bot's tools or state may have changed: cached lists are loaded again when next needed. */
	noteChange(): void {
		this.#version++;
	}

	/** Asks only if the cached lists may be outdated. Concurrent calls share one load. */
	#get({ access, toolsets }: Principal, views: readonly BackendView[]): Promise<ScopedCatalog> {
		const sorted = toolsets && [...toolsets].sort();
		const key = JSON.stringify([access, sorted ?? null, views.map(({ name }) => name)]);
		const entry = this.#entries.getOrMake(key, (): Entry => ({ version: -1, loading: undefined, last: undefined }));
		if (entry.loading && entry.version === this.#version) return entry.loading;
		entry.version = this.#version;
		// Bots list their tools by these limits alone, so one list serves all principals that have them.
		const scope: Principal = { id: "lists", name: "lists", access, toolsets: sorted };
		entry.loading = this.#load(entry, scope, views);
		return entry.loading;
	}

	async #load(entry: Entry, scope: Principal, views: readonly BackendView[]): Promise<ScopedCatalog> {
		const signal = AbortSignal.timeout(requestTimeoutMs);
		const offers = new Map<string, BackendOffer>();
		const loading = stagger(views, async ({ name, state, backend }) => {
			const known = entry.last?.offers.get(name);
			if (known) offers.set(name, known);
			if (!state.online) return;
			try {
				offers.set(name, await backend.offer(scope, signal));
			} catch {
				// The backend has noted whether it is offline. The next call asks again.
				entry.version = -1;
			}
		});
		await Promise.all(loading);
		const sources = views.map(({ name }) => ({ name, tools: offers.get(name)?.tools }));
		// Definitions of a bot that answers come first, as in the list of all tools.
		const healthy = views.findIndex(({ name, state }) => state.online && offers.has(name));
		sources.unshift(...sources.splice(Math.max(0, healthy), 1));
		const { list, skew } = buildCatalog(sources);
		const known = entry.last?.toolList;
		const toolList = known?.text === list ? known : new ToolList(list);
		entry.last = { toolList, skew, offers };
		return entry.last;
	}
}
