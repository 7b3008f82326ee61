// Metrics that the gateway and the bots have in common.

import type { ListenOptions } from "../lib/listen.ts";
import type { Log } from "../lib/log.ts";
import { addProcessMetrics, createRegistry } from "../lib/metrics.ts";
import { version } from "../lib/program.ts";
import type { RpcRequest } from "./json-rpc.ts";
import { countedMethod, type RpcResponse } from "./server.ts";

export type ServerMetrics = ReturnType<typeof createServerMetrics>;

/** Creates a registry with the version and resources of the program, and its requests. Names begin with `prefix`. */
export function createServerMetrics(prefix: string) {
	const registry = createRegistry();
	registry.gauge(
		`${prefix}build_info`,
		"The running version, as a label. The value is always 1.",
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

/** Counts a request by its method and outcome. */
export function countRequest(
	{ requests }: ServerMetrics,
	request: RpcRequest,
	{ outcome }: RpcResponse,
): void {
	requests.add([countedMethod(request), outcome]);
}

type Fetch = ListenOptions["fetch"];

/** Wraps `respond`: counts responses by status, and logs refusals at level debug. */
export function countResponses(
	respond: Fetch,
	{ responses }: ServerMetrics,
	log: Log,
): Fetch {
	return async (request, http) => {
		// The status that `listen` returns if `respond` throws.
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
