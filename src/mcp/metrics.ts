// What every MCP server of ours counts, whatever its tools are.

import type { Log } from "../lib/log.ts";
import {
	addProcessMetrics,
	type Counter,
	createRegistry,
	type Registry,
} from "../lib/metrics.ts";
import { version } from "../lib/program.ts";
import type { RpcRequest } from "./json-rpc.ts";
import { countedMethod, type RpcResponse } from "./server.ts";

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

/** Counts a request that was answered. */
export function countRequest(
	{ requests }: ServerMetrics,
	request: RpcRequest,
	{ outcome }: RpcResponse,
): void {
	requests.add([countedMethod(request), outcome]);
}

type Fetch = (
	request: Request,
	http: Bun.Server<undefined>,
) => Response | Promise<Response>;

/** `respond`, with its responses counted, and refusals in the debug log. */
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
			if (status >= 400) log.debug("HTTP request refused", { status });
		}
	};
}
