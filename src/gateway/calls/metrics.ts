// The gateway's metrics. https://prometheus.io/docs/practices/naming/
// Labels are bounded: names of instances, tools in the catalogue, and fixed words.

import { createServerMetrics } from "../../mcp/metrics.ts";
import type { Backend } from "../backends/backend.ts";
import { conditionOf } from "../catalog/status.ts";
import type { RouteErrorKind } from "../routing/routing.ts";

/** What may become of a call, by kind: "warn" is a refusal, "bad" a failure; "open" if the end is not known. README.md has all. */
const outcomes = {
	good: ["done", "approved"],
	open: ["waiting", "given_up"],
	warn: ["refused", "denied", "expired", "withdrawn", "invalid", "not_routed", "stopped"],
	bad: ["partly_done", "failed", "bot_error", "offline", "busy", "no_answer", "outcome_unknown"],
} as const;

export type CallOutcome = (typeof outcomes)[keyof typeof outcomes][number];

export const kinds = new Map<string, string>(
	Object.entries(outcomes).flatMap(([kind, words]) => words.map((outcome) => [outcome, kind] as const)),
);

/** Of which no bot has a record. */
export const unreached = new Set<CallOutcome>(["invalid", "not_routed", "stopped", "bot_error", "offline", "busy"]);

export const outcomeOf: Record<RouteErrorKind, CallOutcome> = {
	InstanceNotFound: "not_routed",
	GuildNotFound: "not_routed",
	GuildPinned: "not_routed",
	NoTarget: "not_routed",
	BackendOffline: "offline",
	BackendError: "bot_error",
	NoAnswer: "no_answer",
	OutcomeUnknown: "outcome_unknown",
	Overloaded: "busy",
};

export type GatewayMetrics = ReturnType<typeof createMetrics>;

/** Read each time Prometheus scrapes. */
interface GatewayGauges {
	backends: readonly Pick<Backend, "name" | "state" | "health" | "inFlight">[];
	toolsListBytes(): number;
	/** Since the last refresh of all bots. */
	refreshAgeSeconds(): number;
}

const prefix = "guildhall_gateway_";

/** Without gauges. `reason` of a repeated request: "session_lost" or, for a read-only tool, "read". */
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
	registry.gauge(
		`${prefix}backend_state`,
		"1 for the bot's state: online, not ready, away, offline, stopped or cannot start.",
		["instance", "state"],
		() => gauges.backends.map((one) => [[one.name, conditionOf(one)], 1]),
	);
	perBackend("calls_in_flight", "Calls that the bot has not answered yet.", ({ inFlight }) => inFlight);
	registry.gauge(`${prefix}tools_list_bytes`, "Length of the tools/list result in bytes.", [], gauges.toolsListBytes);
	registry.gauge(
		`${prefix}refresh_age_seconds`,
		"Time since every bot was last asked for its state, guilds and tools.",
		[],
		gauges.refreshAgeSeconds,
	);
}
