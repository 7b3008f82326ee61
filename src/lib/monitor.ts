// Four routes for those who watch over a program: is it alive, is it ready, what is its state, what has it counted.
// The first two are for probes, which have no token, and tell nothing more.

import { methodNotAllowed } from "./listen.ts";
import { metricsContentType, type Registry } from "./metrics.ts";

export interface MonitorOptions {
	/** Why the program cannot do its work now, in a few words without detail; undefined when it can. */
	notReady(): string | undefined;
	/** Whether something is missing without which it can do its work all the same. */
	degraded?(): boolean;
	/** What `/status` shows, as JSON. */
	status(): unknown;
	registry: Registry;
	/** The answer to who may not see `/status` and `/metrics`. */
	refuse(request: Request): Response | undefined;
	/** The answer to who may not even ask for `/healthz` and `/readyz`. */
	refuseUnauthenticated?(request: Request): Response | undefined;
}

/** Answers GET and HEAD on the four routes; undefined: `path` is none of them. */
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
		// What it says is true for the moment.
		response.headers.set("Cache-Control", "no-store");
		return response;
	};
}

function text(line: string, status = 200): Response {
	return new Response(`${line}\n`, { status });
}
