// What a bot counts. https://prometheus.io/docs/practices/naming/
// Labels are bounded: names of tools that there are, and words of ours.

import {
	addProcessMetrics,
	type Counter,
	createRegistry,
	type Histogram,
	type Registry,
} from "../lib/metrics.ts";
import { version } from "../lib/program.ts";

export interface BotMetrics {
	registry: Registry;
	/** By JSON-RPC method and outcome. */
	requests: Counter;
	/** By tool and outcome. */
	toolCalls: Counter;
	/** By tool. */
	toolCallSeconds: Histogram;
	/** By HTTP status. */
	responses: Counter;
	/** By outcome. */
	platformRequests: Counter;
}

/** What is read when it is asked for. */
export interface BotGauges {
	callsInFlight(): number;
	sessions(): number;
	connected(): boolean;
	guilds(): number;
}

export function createMetrics(gauges: BotGauges): BotMetrics {
	const registry = createRegistry();
	const name = (rest: string) => `guildhall_bot_${rest}`;
	const gauge = (rest: string, help: string, read: () => number) =>
		registry.gauge(name(rest), help, [], () => [[[], read()]]);
	registry.gauge(
		name("build_info"),
		"The version that runs; always 1.",
		["version"],
		() => [[[version], 1]],
	);
	gauge("discord_connected", "Whether Discord is connected.", () =>
		gauges.connected() ? 1 : 0,
	);
	gauge("guilds", "Guilds that the bot is in.", gauges.guilds);
	gauge("sessions", "Open MCP sessions.", gauges.sessions);
	gauge(
		"calls_in_flight",
		"Tool calls that are being answered.",
		gauges.callsInFlight,
	);
	addProcessMetrics(registry);
	return {
		registry,
		requests: registry.counter(
			name("requests_total"),
			"MCP requests by JSON-RPC method and outcome.",
			["method", "outcome"],
		),
		toolCalls: registry.counter(
			name("tool_calls_total"),
			"Tool calls by tool and outcome.",
			["tool", "outcome"],
		),
		toolCallSeconds: registry.histogram(
			name("tool_call_seconds"),
			"Time from a tool call's arrival to its answer.",
			["tool"],
		),
		responses: registry.counter(
			name("http_responses_total"),
			"HTTP responses by status.",
			["status"],
		),
		platformRequests: registry.counter(
			name("platform_requests_total"),
			"Requests to Discord's API by what it answered.",
			["outcome"],
		),
	};
}
