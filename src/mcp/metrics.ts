// Metrics that the gateway and the bots have in common.

import { addProcessMetrics, createRegistry } from "../lib/metrics.ts";
import { version } from "../lib/program/program.ts";

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
