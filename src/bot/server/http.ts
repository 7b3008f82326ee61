// The bot's routes: the MCP endpoint, which is also where the gateway asks for its readiness, and those of the monitor.

import { pathOf } from "../../lib/listen.ts";
import { createMonitor, type MonitorOptions } from "../../lib/monitor.ts";
import {
	createBearerCheck,
	createHostCheck,
	createOriginCheck,
	withCors,
} from "../../mcp/access.ts";
import { notFound } from "../../mcp/http-response.ts";
import type { Server } from "../../mcp/server.ts";
import type { Sessions } from "../../mcp/session.ts";
import { createEndpoint } from "../../mcp/streamable-http.ts";

/** Above the gateway's limit, so that a request still fits after the gateway has rewritten it. */
const maxBodyBytes = 128 * 1024;

export interface RoutesOptions {
	server: Server;
	sessions: Sessions;
	/** Undefined: nobody is asked for one. */
	token: string | undefined;
	allowedHosts: readonly string[];
	allowedOrigins: readonly string[];
	/** Whether the bot can act on Discord, and has its store. */
	readiness(): "starting" | "degraded" | "ready";
	monitor: Omit<MonitorOptions, "refuse" | "refuseUnauthenticated">;
	/** What features answer, who see to it themselves who may ask; undefined: `path` is none of theirs. */
	respond?(
		request: Request,
		path: string,
	): Response | Promise<Response> | undefined;
}

export function createRoutes({
	server,
	sessions,
	token,
	allowedHosts,
	allowedOrigins,
	readiness,
	monitor: monitorOptions,
	respond = () => undefined,
}: RoutesOptions) {
	const endpoint = createEndpoint({ server, sessions, maxBodyBytes });
	const checkHost = createHostCheck(allowedHosts);
	const checkOrigin = createOriginCheck(allowedOrigins, {
		// Where no token is asked for, a page that somebody has open on this machine could call every tool.
		allowLoopback: token !== undefined,
	});
	const checkBearer = token ? createBearerCheck(token) : () => undefined;
	const monitor = createMonitor({
		...monitorOptions,
		refuse: (request) =>
			checkHost(request) ?? checkOrigin(request) ?? checkBearer(request),
		// A probe may call the bot by any address that it has.
		refuseUnauthenticated: checkOrigin,
	});

	return withCors(allowedOrigins, (request, http) => {
		// A Host header that is none leaves no path to read; checkHost refuses it.
		const path = pathOf(request);
		if (path !== "/mcp") {
			const answer =
				monitor(request, path) ??
				checkOrigin(request) ??
				respond(request, path);
			if (answer) return answer;
		}
		const refusal = checkHost(request) ?? checkOrigin(request);
		if (refusal) return refusal;
		// Before the token is asked for: clients that get 401 for OAuth's metadata wait for a login that never comes.
		if (path !== "/mcp") return notFound();
		// Whoever spells out that it wants a stream is an MCP client, and is told that there is none.
		if (isGet(request) && !wantsStream(request))
			return new Response(readiness());
		return checkBearer(request) ?? endpoint(request, http);
	});
}

function isGet({ method }: Request): boolean {
	return method === "GET" || method === "HEAD";
}

function wantsStream(request: Request): boolean {
	const accepted = request.headers.get("accept")?.toLowerCase();
	return accepted?.includes("text/event-stream") ?? false;
}
