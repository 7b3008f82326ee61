// The names of the MCP clients of each caller. In the revisions with sessions a client says its name only in `initialize`,
// and the gateway keeps no sessions; so it remembers for each caller which clients have connected.

import { LruMap } from "../../lib/lru-map.ts";
import { type Principal, rootPrincipal } from "../../lib/principal.ts";
import type { JsonObject } from "../../mcp/json-rpc.ts";
import { clientName, modernClientName } from "../../mcp/modern.ts";
import type { Caller } from "../../mcp/server.ts";

const maxCallers = 10_000;
const maxClients = 3;
const maxLength = 200;

export class ClientNames {
	readonly #known = new LruMap<string, string>(maxCallers);

	/** Remembers the client that has sent an `initialize` with these params. */
	note({ clientInfo }: JsonObject, principal: Principal | undefined): void {
		const name = clientName(clientInfo);
		if (!name) return;
		const before = this.#known.get(idOf(principal))?.split(" or ") ?? [];
		const names = [name, ...before.filter((one) => one !== name)];
		const text = names.slice(0, maxClients).join(" or ").slice(0, maxLength);
		this.#known.set(idOf(principal), text);
	}

	/**
	 * Returns the name of the client that makes a call. If several clients use one key, returns all their names, because
	 * their calls cannot be told apart. Undefined if it is unknown.
	 */
	of({ modern, principal }: Caller, params: JsonObject): string | undefined {
		if (principal?.client !== undefined) return principal.client;
		return modern ? modernClientName(params) : this.#known.get(idOf(principal));
	}
}

function idOf(principal: Principal | undefined): string {
	return principal?.id ?? rootPrincipal.id;
}
