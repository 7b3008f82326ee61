// Metrics that the gateway and the bots have in common.

import type { Log } from "../lib/log.ts";
import { addProcessMetrics, createRegistry } from "../lib/metrics.ts";
import type { ListenOptions } from "../lib/program/listen.ts";
import { version } from "../lib/program/program.ts";
import type { RpcRequest } from "./json-rpc.ts";
import { countedMethod, type RpcResponse } from "./server.ts";

export type ServerMetrics = ReturnType<typeof createServerMetrics>;

/**
 * Creates the metrics of an MCP server: program version, memory and CPU time of the process, and counters of MCP
 * requests and HTTP responses. Names of metrics about the server begin with `prefix`.
 */
export function createServerMetrics(prefix: string) {
	const registry = createRegistry();
	registry.gauge(`${prefix}build_info`, "The running version, as a label. The value is always 1.", ["version"], () => [
		[[version], 1],
	]);
	addProcessMetrics(registry);
	return {
		registry,
		requests: registry.counter(`${prefix}requests_total`, "MCP requests by JSON-RPC method and outcome.", [
			"method",
			"outcome",
		]),
		responses: registry.counter(`${prefix}http_responses_total`, "HTTP responses by status.", ["status"]),
	};
}

/** Counts an MCP request in the metrics, by its method and outcome. */
export function countRequest({ requests }: ServerMetrics, request: RpcRequest, { outcome }: RpcResponse): void {
	requests.add([countedMethod(request), outcome]);
}

type Fetch = ListenOptions["fetch"];

/**
 * Wraps the HTTP handler `respond`: counts responses by status in the metrics, and logs those with status 400 or above
 * at level debug.
 */
export function countResponses(respond: Fetch, { responses }: ServerMetrics, log: Log): Fetch {
	const count = (status: number) => {
		responses.add([String(status)]);
		if (status >= 400) log.debug("answered an HTTP request with an error status", { status });
	};
	const answered = (response: Response) => {
		count(response.status);
		return response;
	};
	const failed = (error: unknown): never => {
		// The status that `listen` returns if `respond` throws.
		count(500);
		throw error;
	};
	return (request, http) => {
		try {
			const response = respond(request, http);
			return response instanceof Promise ? response.then(answered, failed) : answered(response);
		} catch (error) {
			return failed(error);
		}
	};
}
