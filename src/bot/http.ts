// The bot's routes: the MCP endpoint, which is also where its readiness is asked for.

import { createBearerCheck, refuseHost, refuseOrigin } from "../mcp/access.ts";
import type { Server } from "../mcp/server.ts";
import type { Sessions } from "../mcp/session.ts";
import { createEndpoint } from "../mcp/streamable-http.ts";

/** Above the gateway's limit, so that a request still fits after the gateway has rewritten it. */
const maxBodyBytes = 128 * 1024;

export interface RoutesOptions {
	server: Server;
	sessions: Sessions;
	/** Undefined: nobody is asked for one. */
	token: string | undefined;
	/** Whether the bot can act on Discord. */
	ready(): boolean;
}

export function createRoutes({
	server,
	sessions,
	token,
	ready,
}: RoutesOptions) {
	const endpoint = createEndpoint({ server, sessions, maxBodyBytes });
	const checkBearer = token ? createBearerCheck(token) : () => undefined;

	return (
		request: Request,
		http: Bun.Server<undefined>,
	): Response | Promise<Response> => {
		if (new URL(request.url).pathname !== "/mcp")
			return (
				checkBearer(request) ?? new Response("Not found\n", { status: 404 })
			);
		const refusal = refuseHost(request) ?? refuseOrigin(request);
		if (refusal) return refusal;
		// Whoever spells out that it wants a stream is an MCP client, and is told that there is none.
		if (isGet(request) && !wantsStream(request))
			return new Response(ready() ? "ready" : "starting");
		return checkBearer(request) ?? endpoint(request, http);
	};
}

function isGet({ method }: Request): boolean {
	return method === "GET" || method === "HEAD";
}

function wantsStream(request: Request): boolean {
	return request.headers.get("accept")?.includes("text/event-stream") ?? false;
}
