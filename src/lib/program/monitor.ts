// Monitoring routes: /healthz (liveness), /readyz (readiness), /status (state as JSON), /metrics (Prometheus). The first two
// are for probes without a token, and reveal nothing else.

import { metricsContentType, type Registry } from "../metrics.ts";
import { methodNotAllowed } from "./listen.ts";

export interface MonitorOptions {
	/** A few words that are safe to publish; undefined if ready. */
	notReady(): string | undefined;
	/** Works with reduced function, such as without its database. */
	degraded?(): boolean;
	/** May be a promise. */
	status(): unknown;
	registry: Registry;
	/** An error response to a request that may not read `/status` and `/metrics`, such as without a token. */
	refuse(request: Request): Response | undefined;
	/** An error response to a request that may not read `/healthz` and `/readyz`. */
	refuseUnauthenticated?(request: Request): Response | undefined;
}

/** Handles GET and HEAD of the four paths; undefined for other paths. */
export function createMonitor({
	notReady,
	degraded = () => false,
	status,
	registry,
	refuse,
	refuseUnauthenticated = () => undefined,
}: MonitorOptions): (request: Request, path: string) => Promise<Response> | undefined {
	const routes = new Map([
		["/healthz", { refuse: refuseUnauthenticated, answer: () => text("ok") }],
		["/readyz", { refuse: refuseUnauthenticated, answer: readiness }],
		["/status", { refuse, answer: async () => Response.json(await status()) }],
		[
			"/metrics",
			{ refuse, answer: () => new Response(registry.text(), { headers: { "Content-Type": metricsContentType } }) },
		],
	]);

	function readiness(): Response {
		const reason = notReady();
		if (reason !== undefined) return text(reason, 503);
		return text(degraded() ? "degraded" : "ok");
	}

	return (request, path) => {
		const route = routes.get(path);
		if (!route) return undefined;
		const respond = async () => {
			const isRead = request.method === "GET" || request.method === "HEAD";
			const response = route.refuse(request) ?? (await (isRead ? route.answer() : methodNotAllowed("GET, HEAD")));
			response.headers.set("Cache-Control", "no-store");
			return response;
		};
		return respond();
	};
}

function text(line: string, status = 200): Response {
	return new Response(`${line}\n`, { status });
}
