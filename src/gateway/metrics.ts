// The gateway's metrics. https://prometheus.io/docs/practices/naming/
// Labels are bounded: names of instances, tools in the catalogue, and fixed words.

import type { Counter, Histogram } from "../lib/metrics.ts";
import { createServerMetrics, type ServerMetrics } from "../mcp/metrics.ts";

/** The outcome of a call. */
export type CallOutcome =
	| "ok"
	/** A tool's result with `isError`. */
	| "tool_error"
	/** The bot's JSON-RPC error. */
	| "rpc_error"
	/** The bot refused it with an HTTP status. */
	| "http_error"
	| "offline"
	/** No response from a tool that only reads. */
	| "no_answer"
	| "outcome_unknown"
	| "overloaded"
	/** It named no existing bot. */
	| "not_routed"
	/** Invalid arguments or parameters. */
	| "invalid"
	/** The client has gone. */
	| "given_up";

/** The metrics of a backend. */
export interface BackendMetrics {
	/** By instance. */
	reinitialisations: Counter;
	/** By instance and reason: "session_lost", or "read" for a tool that only reads. */
	retries: Counter;
	/** By instance. */
	backendSeconds: Histogram;
}

export interface GatewayMetrics extends BackendMetrics, ServerMetrics {
	/** By instance ("" for none), tool and outcome. */
	calls: Counter;
	/** By instance. */
	outcomeUnknown: Counter;
	/** By instance. */
	callSeconds: Histogram;
}

/** Values that are read for each scrape. */
export interface GatewayGauges {
	backends(): Iterable<{ name: string; online: boolean; inFlight: number }>;
	toolsListBytes(): number;
	/** Seconds since every bot was last asked for its state, guilds and tools. */
	refreshAgeSeconds(): number;
}

export function createMetrics(gauges: GatewayGauges): GatewayMetrics {
	const prefix = "guildhall_gateway_";
	const server = createServerMetrics(prefix);
	const { registry } = server;
	const name = (rest: string) => prefix + rest;
	const instance = ["instance"] as const;
	registry.gauge(
		name("backend_up"),
		"Whether the bot answered when it was last asked.",
		instance,
		() =>
			Array.from(gauges.backends(), ({ name, online }) => [
				[name],
				online ? 1 : 0,
			]),
	);
	registry.gauge(
		name("calls_in_flight"),
		"Calls that the bot is busy with.",
		instance,
		() =>
			Array.from(gauges.backends(), ({ name, inFlight }) => [[name], inFlight]),
	);
	registry.gauge(
		name("tools_list_bytes"),
		"Length of the tools/list result.",
		[],
		() => [[[], gauges.toolsListBytes()]],
	);
	registry.gauge(
		name("refresh_age_seconds"),
		"Time since every bot was last asked for its state, guilds and tools.",
		[],
		() => [[[], gauges.refreshAgeSeconds()]],
	);
	return {
		...server,
		calls: registry.counter(
			name("calls_total"),
			"Tool calls by instance, tool and outcome.",
			["instance", "tool", "outcome"],
		),
		outcomeUnknown: registry.counter(
			name("outcome_unknown_total"),
			"Calls that may or may not have been carried out.",
			instance,
		),
		reinitialisations: registry.counter(
			name("session_reinitialisations_total"),
			"Sessions opened in the place of another.",
			instance,
		),
		retries: registry.counter(
			name("retries_total"),
			"Requests sent again: in a new session, or because a reading tool's answer was lost.",
			["instance", "reason"],
		),
		callSeconds: registry.histogram(
			name("call_seconds"),
			"Time from a forwarded call's arrival to its answer.",
			instance,
		),
		backendSeconds: registry.histogram(
			name("backend_seconds"),
			"The bot's part of it: from the call's being sent on to its answer.",
			instance,
		),
	};
}
