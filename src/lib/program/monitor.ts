// Monitoring routes: /healthz (liveness), /readyz (readiness), /status (state as JSON), /metrics (Prometheus). The first two
// are for probes without a token, and reveal nothing else.

import { metricsContentType, type Registry } from "../metrics.ts";
import { methodNotAllowed } from "./listen.ts";

export interface MonitorOptions {
	/**
	 * Returns why the program is not ready, in a few words that are safe to publish; undefined if the program is ready.
	 */
	notReady(): string | undefined;
	/** Returns whether the program works with reduced function, such as without its database. */
	degraded?(): boolean;
	/** Returns the state of the program as the JSON value that the route `/status` responds with. */
	status(): unknown;
	registry: Registry;
	/**
	 * Returns an error response if a request is not allowed to read `/status` and `/metrics`, such as without a token;
	 * undefined if it is allowed.
	 */
	refuse(request: Request): Response | undefined;
	/**
	 * Returns an error response if a request is not allowed to read `/healthz` and `/readyz`; undefined if it is allowed.
	 */
	refuseUnauthenticated?(request: Request): Response | undefined;
}

/**
 * Returns a handler for GET and HEAD requests to /healthz, /readyz, /status and /metrics. The handler returns undefined
 * for other paths.
 */
export function createMonitor({
	notReady,
	degraded = () => false,
	status,
	registry,
	refuse,
	refuseUnauthenticated = () => undefined,
}: MonitorOptions): (request: Request, path: string) => Response | undefined {
	const routes = new Map([
		["/healthz", { refuse: refuseUnauthenticated, answer: () => text("ok") }],
		["/readyz", { refuse: refuseUnauthenticated, answer: readiness }],
		["/status", { refuse, answer: () => Response.json(status()) }],
		["/metrics", { refuse, answer: metrics }],
	]);

	function readiness(): Response {
		const reason = notReady();
		if (reason !== undefined) return text(reason, 503);
		return text(degraded() ? "degraded" : "ok");
	}

	function metrics(): Response {
		const headers = { "Content-Type": metricsContentType };
		return new Response(registry.text(), { headers });
	}

	return (request, path) => {
		const route = routes.get(path);
		if (!route) return undefined;
		const { method } = request;
		const response =
			route.refuse(request) ?? (method === "GET" || method === "HEAD" ? route.answer() : methodNotAllowed("GET, HEAD"));
		response.headers.set("Cache-Control", "no-store");
		return response;
	};
}

function text(line: string, status = 200): Response {
	return new Response(`${line}\n`, { status });
}
