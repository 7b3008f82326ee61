// Finds the backend of a call by its arguments, and asks all backends for a guild that none is known to serve.

import type { Signal } from "../lib/signal.ts";
import type { JsonObject } from "../mcp/json-rpc.ts";
import type { Backend } from "./backend.ts";
import { GuildSearch } from "./guild-search.ts";
import { RouteError, route } from "./routing.ts";

/**
 * Finds the bot that a tool call or a request for a prompt selects by its arguments. Throws a RouteError, or rejects
 * with one, if no bot can be selected.
 */
export type FindTarget = (
	args: JsonObject,
	signal: Signal,
) => Backend | Promise<Backend>;

/** Returns a function that selects a bot by the arguments `instance` and `guild_id` of a tool call or a prompt. */
export function createFindTarget(
	backends: readonly Backend[],
	defaultInstance: string | undefined,
): FindTarget {
	const guildSearch = new GuildSearch(backends);

	async function search(args: JsonObject, signal: Signal): Promise<Backend> {
		await guildSearch.search(String(args.guild_id), signal);
		return route(args, backends, defaultInstance);
	}

	return (args, signal) => {
		try {
			return route(args, backends, defaultInstance);
		} catch (error) {
			if (error instanceof RouteError && error.kind === "GuildNotFound")
				return search(args, signal);
			throw error;
		}
	};
}
