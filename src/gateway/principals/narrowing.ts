// How a client restricts itself: by the path /mcp/readonly, or by X-MCP-Readonly and X-MCP-Toolsets, read as GitHub's
// MCP server reads them. They never give more than the caller has.
// https://github.com/github/github-mcp-server/blob/main/docs/remote-server.md

import { maxPrincipalItems, type Principal, rootPrincipal } from "../../lib/principal.ts";

/** Offers only tools that change nothing. */
export const readOnlyPath = "/mcp/readonly";

/** In lower case. Every other value means "yes". */
const noes = new Set(["", "false", "f", "no", "n", "0", "off"]);

/** By X-MCP-Readonly, X-MCP-Toolsets or `path`. Undefined for the root key without restrictions. */
export function narrow(principal: Principal | undefined, headers: Headers, path: string): Principal | undefined {
	const readOnly = headers.get("x-mcp-readonly");
	const toolsets = headers.get("x-mcp-toolsets");
	const reads = path === readOnlyPath || (readOnly !== null && !noes.has(readOnly.trim().toLowerCase()));
	const wanted = toolsets === null ? undefined : toolsetsIn(toolsets);
	if (!reads && !wanted) return principal;
	const known = principal ?? rootPrincipal;
	const owned = known.toolsets;
	return {
		...known,
		...(reads && { access: "read" as const, narrowed: true }),
		toolsets: wanted && owned ? wanted.filter((name) => owned.includes(name)) : (wanted ?? owned),
	};
}

/** Undefined if empty or with "all". Unknown names stay and select no tools. */
function toolsetsIn(value: string): readonly string[] | undefined {
	const given = value
		.split(",")
		.map((name) => name.trim().toLowerCase())
		.filter((name) => name !== "");
	if (given.length === 0 || given.includes("all")) return undefined;
	const names = given.filter((name) => /^[a-z0-9_-]{1,64}$/.test(name));
	return [...new Set(names)].sort().slice(0, maxPrincipalItems);
}
