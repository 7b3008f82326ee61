// The gateway's metrics. https://prometheus.io/docs/practices/naming/
// Labels are bounded: names of instances, tools in the catalogue, and fixed words.

import { createServerMetrics } from "../../mcp/metrics.ts";
import type { Backend } from "../backends/backend.ts";
import type { RouteErrorKind } from "../routing/routing.ts";

/** Outcome of a tool call that the gateway received, as written to its metrics and log. */
export type CallOutcome =
	| "ok"
	/** Outcome of a tool call: the tool returned a result with `isError`. */
	| "tool_error"
	/** Outcome of a tool call: the bot returned a JSON-RPC error. */
	| "rpc_error"
	/** Outcome of a tool call: the bot refused it with an HTTP error status. */
	| "http_error"
	| "offline"
	/** Outcome of a tool call: the bot sent no response to a call of a read-only tool. */
	| "no_answer"
	| "outcome_unknown"
	| "overloaded"
	/** Outcome of a tool call: no bot was selected, or the operator has assigned the guild to other bots. */
	| "not_routed"
	/** Outcome of a tool call: its arguments or parameters were invalid. */
	| "invalid"
	/** Outcome of a tool call: the client disconnected before the response. */
	| "given_up";

/** Maps each kind of RouteError to the outcome that the log and the metrics record for the failed tool call. */
export const outcomeOf: Record<RouteErrorKind, CallOutcome> = {
	InstanceNotFound: "not_routed",
	GuildNotFound: "not_routed",
	GuildPinned: "not_routed",
	NoTarget: "not_routed",
	BackendOffline: "offline",
	BackendError: "http_error",
	NoAnswer: "no_answer",
	OutcomeUnknown: "outcome_unknown",
	Overloaded: "overloaded",
};

export type GatewayMetrics = ReturnType<typeof createMetrics>;

/** Current values that are read each time Prometheus scrapes the gateway's metrics. */
export interface GatewayGauges {
	backends: readonly Pick<Backend, "name" | "state" | "inFlight">[];
	toolsListBytes(): number;
	/** Seconds since the gateway last updated the state, tools and guilds of all bots. */
	refreshAgeSeconds(): number;
}

const prefix = "guildhall_gateway_";

/**
 * Creates the gateway's Prometheus metrics, without gauges. The counter of repeated requests has the
 * label `reason`: "session_lost" or, for a read-only tool without a response, "read".
 */
export function createMetrics() {
	const server = createServerMetrics(prefix);
	const { registry } = server;
	const counter = (name: string, help: string, labels = ["instance"]) => registry.counter(prefix + name, help, labels);
	const histogram = (name: string, help: string) => registry.histogram(prefix + name, help, ["instance"]);
	return {
		...server,
		calls: counter("calls_total", "Tool calls by instance, tool and outcome.", ["instance", "tool", "outcome"]),
		outcomeUnknown: counter("outcome_unknown_total", "Calls that may or may not have been carried out."),
		reinitialisations: counter(
			"session_reinitialisations_total",
			"MCP sessions with a bot opened to replace a lost one.",
		),
		retries: counter(
			"retries_total",
			"Requests to a bot sent again: after a lost session, or a lost response of a tool that only reads.",
			["instance", "reason"],
		),
		callSeconds: histogram("call_seconds", "Time from the arrival of a forwarded call to its response."),
		backendSeconds: histogram("backend_seconds", "Time from forwarding a call to the bot's response."),
	};
}

export function addGauges({ registry }: GatewayMetrics, gauges: GatewayGauges): void {
	const perBackend = (name: string, help: string, read: (backend: Pick<Backend, "state" | "inFlight">) => number) =>
		registry.gauge(prefix + name, help, ["instance"], () => gauges.backends.map((one) => [[one.name], read(one)]));
	perBackend("backend_up", "Whether the bot answered when it was last asked.", ({ state }) => (state.online ? 1 : 0));
	perBackend("calls_in_flight", "Calls that the bot has not answered yet.", ({ inFlight }) => inFlight);
	registry.gauge(`${prefix}tools_list_bytes`, "Length of the tools/list result in bytes.", [], gauges.toolsListBytes);
	registry.gauge(
		`${prefix}refresh_age_seconds`,
		"Time since every bot was last asked for its state, guilds and tools.",
		[],
		gauges.refreshAgeSeconds,
	);
}
