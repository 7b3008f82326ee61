// How a bot that is about to end refuses calls. The gateway then knows that they were not carried out, and holds them.

import type { RpcRequest } from "./json-rpc.ts";

/** The HTTP header with which a server says that it is about to end and did not carry out the request. */
export const drainingHeader = "X-Guildhall-Draining";

/** Methods that begin something: a tool call, or a session, which would be lost when the server ends. */
const beginning = new Set(["tools/call", "initialize"]);

/**
 * Returns the response of a server that is about to end: HTTP 503 with the header X-Guildhall-Draining for methods that
 * begin something. Returns undefined for other requests, which the server still answers.
 */
export function refuseWhileDraining({ method }: RpcRequest): Response | undefined {
	if (!beginning.has(method)) return undefined;
	return new Response("The bot is stopping. Nothing was done; try again.\n", {
		status: 503,
		headers: { [drainingHeader]: "1", "Retry-After": "1" },
	});
}
