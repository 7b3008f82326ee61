// What every MCP server of ours counts, whatever its tools are.

import type { Log } from "../lib/log.ts";
import {
	addProcessMetrics,
	type Counter,
	createRegistry,
	type Registry,
} from "../lib/metrics.ts";
import { version } from "../lib/program.ts";
import { countedMethod, outcomeOf, type Server } from "./server.ts";

export interface ServerMetrics {
	registry: Registry;
	/** By JSON-RPC method and outcome. */
	requests: Counter;
	/** By HTTP status. */
	responses: Counter;
}

/** A registry with the program's version, what its process uses, and its requests; names begin with `prefix`. */
export function createServerMetrics(prefix: string): ServerMetrics {
	const registry = createRegistry();
	registry.gauge(
		`${prefix}build_info`,
		"The version that runs; always 1.",
		["version"],
		() => [[[version], 1]],
	);
	addProcessMetrics(registry);
	return {
		registry,
		requests: registry.counter(
			`${prefix}requests_total`,
			"MCP requests by JSON-RPC method and outcome.",
			["method", "outcome"],
		),
		responses: registry.counter(
			`${prefix}http_responses_total`,
			"HTTP responses by status.",
			["status"],
		),
	};
}

/** `server`, with its requests counted. */
export function countRequests(
	server: Server,
	{ requests }: ServerMetrics,
): Server {
	return {
		async handle(request, caller) {
			const answer = await server.handle(request, caller);
			requests.add([countedMethod(request), outcomeOf(answer)]);
			return answer;
		},
	};
}

type Fetch = (
	request: Request,
	http: Bun.Server<undefined>,
) => Response | Promise<Response>;

/** `respond`, with its responses counted, and refusals in the log for who looks for them. */
export function countResponses(
	respond: Fetch,
	{ responses }: ServerMetrics,
	log: Log,
): Fetch {
	return async (request, http) => {
		// What `listen` answers when this throws.
		let status = 500;
		try {
			const response = await respond(request, http);
			status = response.status;
			return response;
		} finally {
			responses.add([String(status)]);
			if (status >= 400)
				log.debug("a request over HTTP was refused", { status });
		}
	};
}
