// The mark of a tool that needs no target: the gateway asks all bots, and shows equal answers once.

import { isObject, type JsonObject } from "../lib/json.ts";

const key = "guildhall/everywhere";

/** Adds the mark to a tool that only reads. */
export function everywhere<One extends { listing: JsonObject }>(tool: One): One {
	return { ...tool, listing: { ...tool.listing, _meta: { [key]: true } } };
}

/** By `_meta` of a tool in `tools/list`. */
export function isEverywhere(meta: unknown): boolean {
	return isObject(meta) && meta[key] === true;
}
