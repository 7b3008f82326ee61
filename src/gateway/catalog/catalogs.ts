// The lists of tools and prompts that clients see, built when they are needed, and again only if a bot's tools have changed: one
// of all tools, for callers without limits, and for each combination of limits one of what the bots list for them.

import { LruMap } from "../../lib/lru-map.ts";
import type { Principal } from "../../lib/principal.ts";
import { stagger } from "../../lib/stagger.ts";
import { ToolList } from "../../mcp/tool-list.ts";
import type { Backend, BackendOffer } from "../backends/backend.ts";
import type { View, Views } from "../principals/views.ts";
import { buildCatalog, type Catalog, type CatalogSource } from "./catalog.ts";

const maxCombinations = 100;
const requestTimeoutMs = 2_000;

interface ListedCatalog extends Catalog {
	toolList: ToolList;
}

interface ScopedCatalog extends ListedCatalog {
	/** By bot name: the last lists for these limits. A bot that has never answered is absent. */
	offers: ReadonlyMap<string, BackendOffer>;
}

interface Entry {
	version: number;
	loading: Promise<ScopedCatalog> | undefined;
	last: ScopedCatalog | undefined;
}

interface CatalogsOptions {
	backends: readonly (CatalogSource & Pick<Backend, "state">)[];
	views: Views;
	timeoutMs: number;
	/** A promise while the bots are asked for the first time. */
	firstList(): Promise<unknown> | undefined;
}

export class Catalogs {
	readonly #entries = new LruMap<string, Entry>(maxCombinations);
	#version = 0;
	#all: { version: number; sources: readonly CatalogSource[]; catalog: ListedCatalog } | undefined;

	constructor(private readonly options: CatalogsOptions) {}

	/** A bot's tools or state may have changed: cached lists are loaded again when next needed. */
	noteChange(): void {
		this.#version++;
	}

	/** For callers without limits. */
	get all(): ListedCatalog {
		const known = this.#all;
		if (known?.version === this.#version) return known.catalog;
		const sources = healthyFirst(this.options.backends);
		const isSame = known?.sources.every(
			({ name, tools }, at) => sources[at]?.name === name && sources[at]?.tools === tools,
		);
		const catalog = known && isSame ? known.catalog : listedCatalog(sources, known?.catalog);
		this.#all = { version: this.#version, sources, catalog };
		return catalog;
	}

	/** The bots that a principal may see, and what they list for it. Within a few seconds; never rejects. */
	async see(principal: Principal): Promise<{ views: readonly View[]; catalog: ScopedCatalog }> {
		const { views: all, timeoutMs, firstList } = this.options;
		await firstList();
		const views = await all.load(principal, AbortSignal.timeout(timeoutMs));
		const catalog = await this.#get(principal, views);
		for (const view of views) {
			const offer = catalog.offers.get(view.name);
			view.dropped = offer?.dropped ?? [];
			view.prompts = offer?.prompts ?? [];
		}
		return { views, catalog };
	}

	/** Asks only if the cached lists may be outdated. Concurrent calls share one load. */
	#get({ access, toolsets }: Principal, views: readonly View[]): Promise<ScopedCatalog> {
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

	async #load(entry: Entry, scope: Principal, views: readonly View[]): Promise<ScopedCatalog> {
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
		const sources = views.map(({ name, state }) => ({ name, state, tools: offers.get(name)?.tools }));
		entry.last = { ...listedCatalog(healthyFirst(sources), entry.last), offers };
		return entry.last;
	}
}

/** The definitions of a bot that answers come first. Copies: what a bot lists later must not change what was built. */
function healthyFirst(bots: readonly (CatalogSource & Pick<Backend, "state">)[]): CatalogSource[] {
	const healthy = bots.find(({ state, tools }) => (state.online || state.away) && tools);
	const others = bots.filter((one) => one !== healthy);
	return (healthy ? [healthy, ...others] : others).map(({ name, tools }) => ({ name, tools }));
}

function listedCatalog(sources: readonly CatalogSource[], before: ListedCatalog | undefined): ListedCatalog {
	const catalog = buildCatalog(sources);
	return { ...catalog, toolList: before?.list === catalog.list ? before.toolList : new ToolList(catalog.list) };
}
