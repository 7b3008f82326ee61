// Resources: what a client reads by URI, such as to attach it for its model. Never subscribed to, and never on several pages.
// https://modelcontextprotocol.io/specification/2026-07-28/server/resources

import { errorCode, RpcError } from "./json-rpc.ts";

export const resourceMethods = ["resources/list", "resources/templates/list", "resources/read"] as const;

export type ResourceMethod = (typeof resourceMethods)[number];

/** `why`: instead of "Resource not found". */
export function resourceNotFound(uri: unknown, why = "Resource not found"): RpcError {
	return new RpcError(errorCode.invalidParams, why, { data: { uri } });
}
