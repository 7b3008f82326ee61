// The list of all tools, for callers without limits: built when it is needed, and again only if a bot's tools have changed.

import { ToolList } from "../../mcp/tool-list.ts";
import type { Backend } from "../backends/backend.ts";
import { buildCatalog, type Catalog, type CatalogSource } from "./catalog.ts";

type Source = CatalogSource & Pick<Backend, "state">;

interface Built {
	sources: readonly CatalogSource[];
	catalog: Catalog;
	toolList: ToolList;
}

export class MergedCatalog {
	#built: Built | undefined;
	#isStale = false;

	constructor(private readonly backends: readonly Source[]) {}

	/** The state or tools of a bot may have changed. */
	noteChange(): void {
		this.#isStale = true;
	}

	get catalog(): Catalog {
		return this.#now().catalog;
	}

	get toolList(): ToolList {
		return this.#now().toolList;
	}

	#now(): Built {
		const known = this.#built;
		if (known && !this.#isStale) return known;
		this.#isStale = false;
		const sources = this.#sources();
		if (known?.sources.every(({ name, tools }, at) => sources[at]?.name === name && sources[at]?.tools === tools))
			return known;
		const catalog = buildCatalog(sources);
		const toolList = known?.toolList.text === catalog.list ? known.toolList : new ToolList(catalog.list);
		this.#built = { sources, catalog, toolList };
		return this.#built;
	}

	#sources(): CatalogSource[] {
		const healthy = this.backends.find(({ state, tools }) => (state.online || state.away) && tools);
		const others = this.backends.filter((backend) => backend !== healthy);
		// Copies: what a bot lists later must not change what was built.
		return (healthy ? [healthy, ...others] : others).map(({ name, tools }) => ({ name, tools }));
	}
}
