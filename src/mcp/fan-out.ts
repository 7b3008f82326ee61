// Marks in `_meta` of a listed tool, by which the gateway makes several calls of one.

import { isObject, type JsonObject } from "../lib/json.ts";

const everywhereKey = "guildhall/everywhere";
const guildsKey = "guildhall/guild_ids";

export interface FanOut {
	/** Only reads, and needs no target: without one, all bots are asked. */
	everywhere?: true;
	/** Takes `guild_ids`: one call for each guild. */
	guilds?: true;
}

/** Marks a tool that only reads. */
export function everywhere<One extends { listing: JsonObject }>(tool: One): One {
	return withMeta(tool, everywhereKey);
}

/** Marks a tool that takes `guild_id`. */
export function inGuilds<One extends { listing: JsonObject }>(tool: One): One {
	return withMeta(tool, guildsKey);
}

function withMeta<One extends { listing: JsonObject }>(tool: One, key: string): One {
	return { ...tool, listing: { ...tool.listing, _meta: { [key]: true } } };
}

/** From `_meta` of a tool in `tools/list`. */
export function readFanOut(meta: unknown): FanOut {
	if (!isObject(meta)) return {};
	return {
		...(meta[everywhereKey] === true && { everywhere: true }),
		...(meta[guildsKey] === true && { guilds: true }),
	};
}

/** Clients need not see it. */
export function isFanOutKey(key: string): boolean {
	return key === everywhereKey || key === guildsKey;
}
