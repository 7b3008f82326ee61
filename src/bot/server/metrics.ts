// Metrics of a bot. https://prometheus.io/docs/practices/naming/
// Label values are bounded: tool names and constants.

import type { Counter, Histogram } from "../../lib/metrics.ts";
import { createServerMetrics, type ServerMetrics } from "../../mcp/metrics.ts";

export interface BotMetrics extends ServerMetrics {
	/** By tool and outcome. */
	toolCalls: Counter;
	/** By tool. */
	toolCallSeconds: Histogram;
	/** By outcome. */
	platformRequests: Counter;
}

/** Values that are read at each scrape. */
export interface BotGauges {
	callsInFlight(): number;
	sessions(): number;
	connected(): boolean;
	storeReady(): boolean;
	/** Calls queued for the audit log. */
	auditQueued(): number;
	/** Calls dropped by the audit log. */
	auditDropped(): number;
	guilds(): number;
	/** Invalid requests in the last 10 minutes. */
	invalidRequests(): number;
	/** Requests rejected because of a pause. */
	rejectedCount(): number;
	/** Remaining pause of requests, in milliseconds. */
	pauseMs(): number;
	/** Open sockets to Discord's Gateway. */
	sockets(): number;
	/** Sessions started on Discord's Gateway in the last 24 hours. */
	sessionStarts(): number;
	/** Unreadable Gateway events by type. */
	droppedEvents(): ReadonlyMap<string, { readonly count: number }>;
}

export function createMetrics(gauges: BotGauges): BotMetrics {
	const prefix = "guildhall_bot_";
	const server = createServerMetrics(prefix);
	const { registry } = server;
	const name = (rest: string) => prefix + rest;
	const gauge = (rest: string, help: string, read: () => number) =>
		registry.gauge(name(rest), help, [], () => [[[], read()]]);
	gauge("discord_connected", "Whether Discord is connected.", () =>
		gauges.connected() ? 1 : 0,
	);
	gauge("store_ready", "Whether the store accepts writes.", () =>
		gauges.storeReady() ? 1 : 0,
	);
	gauge(
		"audit_queued",
		"Tool calls queued for the audit log.",
		gauges.auditQueued,
	);
	registry.readCounter(
		name("audit_dropped_total"),
		"Tool calls dropped by the audit log.",
		[],
		() => [[[], gauges.auditDropped()]],
	);
	gauge("guilds", "Guilds of the bot.", gauges.guilds);
	gauge(
		"discord_invalid_requests",
		"Requests answered with 401, 403 or 429 in the last 10 minutes, up to the number that pauses requests.",
		gauges.invalidRequests,
	);
	registry.readCounter(
		name("discord_held_back_total"),
		"Requests rejected because of a pause.",
		[],
		() => [[[], gauges.rejectedCount()]],
	);
	gauge(
		"discord_pause_seconds",
		"Remaining pause of requests after too many invalid ones or a response that is not Discord's; 0 without a pause.",
		() => gauges.pauseMs() / 1000,
	);
	gauge(
		"discord_sockets",
		"Open sockets to Discord's Gateway: 0 or 1.",
		gauges.sockets,
	);
	gauge(
		"discord_logins_24h",
		"Sessions started on Discord's Gateway in the last 24 hours.",
		gauges.sessionStarts,
	);
	registry.readCounter(
		name("discord_events_dropped_total"),
		"Gateway events that could not be read.",
		["type"],
		() =>
			[...gauges.droppedEvents()].map(([type, { count }]) => [[type], count]),
	);
	gauge("sessions", "Open MCP sessions.", gauges.sessions);
	gauge("calls_in_flight", "Running tool calls.", gauges.callsInFlight);
	return {
		...server,
		toolCalls: registry.counter(
			name("tool_calls_total"),
			"Tool calls by tool and outcome.",
			["tool", "outcome"],
		),
		toolCallSeconds: registry.histogram(
			name("tool_call_seconds"),
			"Duration of tool calls.",
			["tool"],
		),
		platformRequests: registry.counter(
			name("platform_requests_total"),
			"Requests to Discord's API by outcome.",
			["outcome"],
		),
	};
}
