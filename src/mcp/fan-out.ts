// Marks in `_meta` of a listed tool, by which the gateway makes several calls of one.

import { isObject, type JsonObject } from "../lib/json.ts";

const everywhereKey = "guildhall/everywhere";
const guildsKey = "guildhall/guild_ids";
const sourceKey = "guildhall/source";

/**
 * `argument` names a guild, by its id or as an object with `guild_id`. If that is a guild of another bot, the gateway calls
 * `tool` there with that object and the arguments named in `also`, and adds the text of the result to it as `document`.
 */
export interface Source {
	argument: string;
	tool: string;
	also?: readonly string[];
}

export interface FanOut {
	/** Only reads, and needs no target: without one, all bots are asked. */
	everywhere?: true;
	/** Takes `guild_ids`: one call for each guild. */
	guilds?: true;
	source?: Source;
}

/** Marks a tool that only reads. */
export function everywhere<One extends { listing: JsonObject }>(tool: One): One {
	return withMeta(tool, everywhereKey, true);
}

/** Marks a tool that takes `guild_id`. */
export function inGuilds<One extends { listing: JsonObject }>(tool: One): One {
	return withMeta(tool, guildsKey, true);
}

/** Marks a tool that reads a second guild, by `source`. */
export function reading<One extends { listing: JsonObject }>(source: Source, tool: One): One {
	return withMeta(tool, sourceKey, source);
}

function withMeta<One extends { listing: JsonObject }>(tool: One, key: string, value: unknown): One {
	return { ...tool, listing: { ...tool.listing, _meta: { [key]: value } } };
}

/** From `_meta` of a tool in `tools/list`. */
export function readFanOut(meta: unknown): FanOut {
	if (!isObject(meta)) return {};
	return {
		...(meta[everywhereKey] === true && { everywhere: true }),
		...(meta[guildsKey] === true && { guilds: true }),
		...(isSource(meta[sourceKey]) && { source: meta[sourceKey] }),
	};
}

function isSource(value: unknown): value is Source {
	return isObject(value) && typeof value.argument === "string" && typeof value.tool === "string";
}

/** Clients need not see it. */
export function isFanOutKey(key: string): boolean {
	return key === everywhereKey || key === guildsKey || key === sourceKey;
}
