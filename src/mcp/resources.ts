// Resources: what a client reads by URI, such as to attach it for its model. Never subscribed to, and never on several pages.
// https://modelcontextprotocol.io/specification/2026-07-28/server/resources

import { errorCode, RpcError } from "./json-rpc.ts";
import type { OtherMethod } from "./server.ts";

export const resourceMethods = ["resources/list", "resources/templates/list", "resources/read"] as const;

/** In this program or in the bots behind it. */
export type ResourceMethods = Record<(typeof resourceMethods)[number], OtherMethod>;

/** `why`: instead of "Resource not found". */
export function resourceNotFound(uri: unknown, why = "Resource not found"): RpcError {
	return new RpcError(errorCode.invalidParams, why, { data: { uri } });
}
