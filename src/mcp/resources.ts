// Resources: what a client reads by URI, such as to attach it for its model. Never subscribed to, and never on several pages.
// https://modelcontextprotocol.io/specification/2026-07-28/server/resources

import type { JsonObject } from "../lib/json.ts";
import { errorCode, RpcError } from "./json-rpc.ts";

export const resourceMethods = ["resources/list", "resources/templates/list", "resources/read"] as const;

export type ResourceMethod = (typeof resourceMethods)[number];

/** `why`: instead of "Resource not found". */
export function resourceNotFound(uri: unknown, why = "Resource not found"): RpcError {
	return new RpcError(errorCode.invalidParams, why, { data: { uri } });
}

/** MCP Apps: https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx */
export const appsExtension = "io.modelcontextprotocol/ui";

/** The contents of a page. Without domains in `_meta.ui.csp`, clients allow it no network. */
export function appPage(uri: string, text: string): JsonObject {
	return { uri, mimeType: "text/html;profile=mcp-app", text, _meta: { ui: { prefersBorder: true } } };
}

/** Clients with MCP Apps show the page at `resourceUri` with each result of the tool. */
export function shownIn<One extends { listing: JsonObject }>(resourceUri: string, tool: One): One {
	return { ...tool, listing: { ...tool.listing, _meta: { ...Object(tool.listing._meta), ui: { resourceUri } } } };
}
