// The bot's HTTP routes: the MCP endpoint with its readiness probe, the monitor, and routes of features.

import type { Connection } from "../../discord/connection/connection.ts";
import { decodePrincipal, type Principal, principalHeader } from "../../lib/principal.ts";
import { pathOf } from "../../lib/program/listen.ts";
import { createMonitor, type MonitorOptions } from "../../lib/program/monitor.ts";
import { createBearerCheck, createHostCheck, createOriginCheck, withCors } from "../../mcp/access.ts";
import { notFound } from "../../mcp/http-response.ts";
import { readinessResponse } from "../../mcp/readiness.ts";
import type { Server } from "../../mcp/server.ts";
import type { Sessions } from "../../mcp/session.ts";
import { createEndpoint } from "../../mcp/streamable-http.ts";
import type { BotConfig } from "../config/config.ts";
import { createDocumentRoute, type DocumentRouteOptions, routePrefix } from "../guild-documents/route.ts";
import type { Store } from "../store/store.ts";

// Larger than the gateway's limit, because the gateway adds the document of another bot's guild to requests.
const maxBodyBytes = 1024 * 1024;

interface RoutesOptions extends Pick<MonitorOptions, "status" | "registry"> {
	config: Pick<BotConfig, "mcpToken" | "allowedHosts" | "allowedOrigins">;
	server: Server;
	sessions: Sessions;
	connection: Pick<Connection, "ready" | "shards" | "state">;
	store: Pick<Store, "state" | "reason">;
	/** The features authenticate these requests themselves. Undefined if `path` is not theirs. */
	respond(request: Request, path: string): Response | Promise<Response> | undefined;
	/** Export, plan and apply of guild documents. */
	documents: DocumentRouteOptions;
}

export function createRoutes({
	config: { mcpToken: token, allowedHosts, allowedOrigins },
	server,
	sessions,
	connection,
	store,
	status,
	registry,
	respond,
	documents,
}: RoutesOptions) {
	const endpoint = createEndpoint({ server, sessions, maxBodyBytes });
	const checkHost = createHostCheck(allowedHosts);
	const checkOrigin = createOriginCheck(allowedOrigins, {
		// Without a token, any page open in a local browser could call every tool.
		allowLoopback: token !== undefined,
	});
	const answerDocuments = createDocumentRoute(documents);
	const readiness = () => (!connection.ready ? "starting" : store.state === "ready" ? "ready" : "degraded");
	function notReady(): string | undefined {
		const { connected, reason } = connection.state;
		const missing = [
			server.isDraining && "the bot is stopping",
			!(connection.ready && connected) && `Discord is not connected: ${reason}`,
			store.state !== "ready" && `the database does not respond: ${store.reason}`,
		];
		return missing.filter(Boolean).join("; ") || undefined;
	}
	const checkBearer = token ? createBearerCheck(token) : () => undefined;
	const monitor = createMonitor({
		notReady: () =>
			connection.ready && connection.shards.some(({ connected }) => connected) ? undefined : "Discord is not connected",
		// Without the database or a shard the bot is degraded, but its tools work.
		degraded: () => store.state !== "ready" || !connection.state.connected,
		status,
		registry,
		refuse: (request) => checkHost(request) ?? checkOrigin(request) ?? checkBearer(request),
		// Probes may use any host name.
		refuseUnauthenticated: checkOrigin,
	});

	return withCors(allowedOrigins, (request, http) => {
		// An invalid Host header leaves no path; checkHost refuses it below.
		const path = pathOf(request);
		if (path !== "/mcp") {
			const response = monitor(request, path) ?? checkOrigin(request) ?? respond(request, path);
			if (response) return response;
		}
		const refusal = checkHost(request) ?? checkOrigin(request);
		if (refusal) return refusal;
		if (path.startsWith(routePrefix)) return checkBearer(request) ?? answerDocuments(request, http, path);
		// Before the token check: a client that gets 401 for OAuth metadata waits for a login that never comes.
		if (path !== "/mcp") return notFound();
		// A GET that accepts a stream is an MCP client's; the endpoint refuses it. Any other is the readiness probe.
		const wantsStream = request.headers.get("accept")?.toLowerCase().includes("text/event-stream");
		if (["GET", "HEAD"].includes(request.method) && !wantsStream)
			return readinessResponse(readiness(), checkBearer(request) ? undefined : notReady());
		const unauthorized = checkBearer(request);
		if (unauthorized) return unauthorized;
		const principal = readPrincipal(request.headers, token !== undefined);
		return principal instanceof Response ? principal : endpoint(request, http, principal);
	});
}

function readPrincipal(headers: Headers, hasToken: boolean): Principal | Response | undefined {
	const value = headers.get(principalHeader);
	if (value === null) return undefined;
	if (!hasToken)
		return new Response(
			`${principalHeader} is not allowed: this bot has no MCP_AUTH_TOKEN, so it cannot know who sent the header\n`,
			{ status: 403 },
		);
	return decodePrincipal(value) ?? new Response(`${principalHeader} is invalid\n`, { status: 400 });
}
