// Metrics of a bot. https://prometheus.io/docs/practices/naming/
// Label values are bounded: tool names and constants.

import type { Connection } from "../../discord/connection/connection.ts";
import type { Registry } from "../../lib/metrics.ts";
import { createServerMetrics } from "../../mcp/metrics.ts";
import type { Sessions } from "../../mcp/session.ts";
import type { Store } from "../store/store.ts";
import type { Audit } from "../tool/audit.ts";

const prefix = "guildhall_bot_";

export type BotMetrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
	const server = createServerMetrics(prefix);
	const { registry } = server;
	return {
		...server,
		toolCalls: registry.counter(`${prefix}tool_calls_total`, "Tool calls by tool and outcome.", ["tool", "outcome"]),
		toolCallSeconds: registry.histogram(`${prefix}tool_call_seconds`, "Duration of tool calls.", ["tool"]),
		platformRequests: registry.counter(
			`${prefix}platform_requests_total`,
			"Requests to Discord's API and CDN by outcome.",
			["outcome"],
		),
	};
}

/** Read each time Prometheus scrapes. */
export interface Observed {
	connection: Connection;
	store: Pick<Store, "state">;
	audit: Pick<Audit, "queued" | "dropped">;
	sessions: Pick<Sessions, "size">;
	server: { readonly callsInFlight: number };
}

export function addGauges(registry: Registry, { connection, store, audit, sessions, server }: Observed): void {
	const { requests, droppedEvents } = connection;
	const gauge = (name: string, help: string, read: () => number) => registry.gauge(prefix + name, help, [], read);
	const counter = (name: string, help: string, read: () => number) =>
		registry.readCounter(prefix + name, help, [], read);
	gauge("discord_connected", "Whether Discord is connected.", () => Number(connection.state.connected));
	gauge("store_ready", "Whether the store accepts writes.", () => Number(store.state === "ready"));
	gauge("audit_queued", "Tool calls queued for the audit log.", () => audit.queued);
	counter("audit_dropped_total", "Tool calls dropped by the audit log.", () => audit.dropped);
	gauge("guilds", "Guilds of the bot.", () => connection.guilds.length);
	gauge(
		"discord_invalid_requests",
		"Requests answered with 401, 403 or 429 in the last 10 minutes, up to the number that pauses requests.",
		() => requests.invalidCount,
	);
	counter("discord_held_back_total", "Requests rejected because of a pause.", () => requests.rejectedCount);
	gauge(
		"discord_pause_seconds",
		"Remaining pause of requests after too many invalid ones or a response that is not Discord's; 0 without a pause.",
		() => (requests.pause?.waitMs ?? 0) / 1000,
	);
	gauge("discord_sockets", "Open sockets to Discord's Gateway: one per shard, or fewer.", () => connection.sockets);
	gauge("discord_shards", "Shards of the bot.", () => connection.shards.length);
	gauge(
		"discord_shards_connected",
		"Shards that are connected to Discord's Gateway.",
		() => connection.shards.filter(({ connected }) => connected).length,
	);
	gauge(
		"discord_guilds_unavailable",
		"Guilds that are unavailable on Discord, or whose shard is not connected.",
		() => connection.guilds.filter((guild) => !guild.available || !connection.isConnected(guild)).length,
	);
	gauge(
		"discord_logins_24h",
		"Sessions started on Discord's Gateway in the last 24 hours, by Discord's latest count or this process's, whichever is more.",
		() => connection.sessionStarts,
	);
	registry.readCounter(
		`${prefix}discord_events_dropped_total`,
		"Gateway events that could not be read.",
		["type"],
		() => [...droppedEvents.counts].map(([type, { count }]) => [[type], count]),
	);
	gauge("sessions", "Open MCP sessions.", () => sessions.size);
	gauge("calls_in_flight", "Running tool calls.", () => server.callsInFlight);
}
