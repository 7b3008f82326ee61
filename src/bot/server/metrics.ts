// What a bot counts. https://prometheus.io/docs/practices/naming/
// Labels are bounded: names of tools that there are, and words of ours.

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

/** What is read when it is asked for. */
export interface BotGauges {
	callsInFlight(): number;
	sessions(): number;
	connected(): boolean;
	storeReady(): boolean;
	/** Calls that wait to be written to the audit log. */
	auditQueued(): number;
	/** Calls that never were. */
	auditDropped(): number;
	guilds(): number;
	/** Requests of the last 10 minutes that Discord counts as invalid. */
	invalidRequests(): number;
	/** Requests that were not sent because of a pause. */
	rejectedCount(): number;
	/** How long requests are still paused, in milliseconds. */
	pauseMs(): number;
	/** Open sockets to Discord's Gateway. */
	sockets(): number;
	/** Sessions begun on Discord's Gateway in the last 24 hours. */
	sessionStarts(): number;
	/** Events that could not be read, by type. */
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
	gauge("store_ready", "Whether the store is there and takes writes.", () =>
		gauges.storeReady() ? 1 : 0,
	);
	gauge(
		"audit_queued",
		"Tool calls that wait to be written to the audit log.",
		gauges.auditQueued,
	);
	registry.readCounter(
		name("audit_dropped_total"),
		"Tool calls that were never written to the audit log.",
		[],
		() => [[[], gauges.auditDropped()]],
	);
	gauge("guilds", "Guilds that the bot is in.", gauges.guilds);
	gauge(
		"discord_invalid_requests",
		"Requests of the last 10 minutes that Discord answered 401, 403 or 429, up to the number that stops the next ones.",
		gauges.invalidRequests,
	);
	registry.readCounter(
		name("discord_held_back_total"),
		"Requests that were not sent because of a pause.",
		[],
		() => [[[], gauges.rejectedCount()]],
	);
	gauge(
		"discord_pause_seconds",
		"How long requests are still paused, after too many invalid ones or an answer that is not Discord's; 0 when they are sent.",
		() => gauges.pauseMs() / 1000,
	);
	gauge(
		"discord_sockets",
		"Open sockets to Discord's Gateway: one, or none.",
		gauges.sockets,
	);
	gauge(
		"discord_logins_24h",
		"Sessions that the bot has begun on Discord's Gateway in the last 24 hours.",
		gauges.sessionStarts,
	);
	registry.readCounter(
		name("discord_events_dropped_total"),
		"Events of Discord's Gateway that could not be read.",
		["type"],
		() =>
			[...gauges.droppedEvents()].map(([type, { count }]) => [[type], count]),
	);
	gauge("sessions", "Open MCP sessions.", gauges.sessions);
	gauge(
		"calls_in_flight",
		"Tool calls that are being answered.",
		gauges.callsInFlight,
	);
	return {
		...server,
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
		platformRequests: registry.counter(
			name("platform_requests_total"),
			"Requests to Discord's API by what it answered.",
			["outcome"],
		),
	};
}
