// Monitoring routes: /healthz (liveness), /readyz (readiness), /status (state as JSON), /metrics (Prometheus). The first two
// are for probes without a token, and reveal nothing else.

import { methodNotAllowed } from "./listen.ts";
import { metricsContentType, type Registry } from "./metrics.ts";

export interface MonitorOptions {
	/** Why the program is not ready, in a few words that are safe to publish; undefined if it is ready. */
	notReady(): string | undefined;
	/** Whether the program works with reduced function, such as without its database. */
	degraded?(): boolean;
	/** The JSON value that `/status` returns. */
	status(): unknown;
	registry: Registry;
	/** Returns the response to a request that may not read `/status` and `/metrics`; undefined if it may. */
	refuse(request: Request): Response | undefined;
	/** Returns the response to a request that may not even read `/healthz` and `/readyz`. */
	refuseUnauthenticated?(request: Request): Response | undefined;
}

/** Returns a handler for GET and HEAD on the monitoring routes. It returns undefined for other paths. */
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
			route.refuse(request) ??
			(method === "GET" || method === "HEAD"
				? route.answer()
				: methodNotAllowed("GET, HEAD"));
		response.headers.set("Cache-Control", "no-store");
		return response;
	};
}

function text(line: string, status = 200): Response {
	return new Response(`${line}\n`, { status });
}
