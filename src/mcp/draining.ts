// How a bot that is about to end refuses calls. The gateway then knows that they were not carried out, and holds them.

import type { RpcRequest } from "./json-rpc.ts";

/** Says that the server is about to end and did not carry out the request. */
export const drainingHeader = "X-Guildhall-Draining";

/** A tool call, or a session, which would be lost when the server ends. */
const beginning = new Set(["tools/call", "initialize"]);

/** HTTP 503 with X-Guildhall-Draining; undefined for requests that the server still answers. */
export function refuseWhileDraining({ method }: RpcRequest): Response | undefined {
	if (!beginning.has(method)) return undefined;
	return new Response("The bot is stopping. Nothing was done; try again.\n", {
		status: 503,
		headers: { [drainingHeader]: "1", "Retry-After": "1" },
	});
}
