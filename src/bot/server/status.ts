// What /status tells of a bot.

import type { Connection } from "../../discord/connection/connection.ts";
import { version } from "../../lib/program/program.ts";
import type { BotConfig } from "../config/config.ts";
import type { BackupsStatus } from "../guild-documents/backups/backups.ts";
import type { GuildSettings } from "../settings/guild-settings.ts";
import type { Store } from "../store/store.ts";
import { daysAt, selectUse } from "../store/tables/chat.ts";
import { ignoreUnavailable } from "../store/unavailable.ts";
import type { Observed } from "./metrics.ts";

/** In MCP, too. */
export const serverName = "guildhall-bot";

interface Described extends Observed {
	config: BotConfig;
	settings: GuildSettings;
	store: Pick<Store, "state" | "since" | "reason" | "sql">;
	backups: { readonly status: BackupsStatus };
}

export async function describeBot(described: Described) {
	const { config, connection, store, audit, backups, sessions, server } = described;
	return {
		name: serverName,
		version,
		bot_name: config.botName,
		uptime_seconds: Math.floor(process.uptime()),
		discord: describeConnection(connection),
		store: {
			state: store.state,
			since: store.since.toISOString(),
			reason: store.reason,
			audit_queued: audit.queued,
			audit_dropped: audit.dropped,
		},
		backups: describeBackups(backups.status),
		chat: config.toml.features.chat ? ((await describeChat(described)) ?? null) : null,
		sessions: sessions.size,
		calls_in_flight: server.callsInFlight,
	};
}

/** Guilds that used AI chat this month. Undefined while the store is down. */
async function describeChat({ config, settings, store }: Described) {
	const use = await selectUse(store.sql, daysAt(Date.now(), config.timezone)).catch(ignoreUnavailable);
	return use?.map(({ guild_id: guild, ...used }) => {
		const { "chat.tokens_a_day": aDay, "chat.tokens_a_month": aMonth } = settings.of(guild);
		return { guild, ...used, tokens_a_day: aDay ?? null, tokens_a_month: aMonth ?? null };
	});
}

function describeBackups({ every, lastAt, failing }: BackupsStatus) {
	if (every === undefined) return null;
	return {
		every_seconds: every / 1000,
		last_at: lastAt?.toISOString() ?? null,
		failing: [...failing].map(([guild, reason]) => ({ guild, reason })),
	};
}

function describeConnection(connection: Connection) {
	const { state, user, guilds, requests, droppedEvents } = connection;
	const hasShards = connection.shards.length > 1;
	const { connected, since, reason } = state;
	const { pause } = requests;
	const dropped = droppedEvents.counts.values();
	return {
		connected,
		since: since.toISOString(),
		reason: connected ? undefined : reason,
		refused_intents: connection.refusedIntents,
		requests_paused: pause
			? { reason: pause.why, status: pause.status, seconds_left: Math.ceil(pause.waitMs / 1000) }
			: null,
		sockets: connection.sockets,
		shards: hasShards ? describeShards(connection) : undefined,
		logins_in_24_hours: connection.sessionStarts,
		events_dropped: dropped.reduce((sum, { count }) => sum + count, 0),
		user: user?.username ?? null,
		guilds: guilds.map(({ id, name, memberCount: members }) => ({
			id,
			name,
			members,
			...(hasShards && { shard: connection.shardOf({ id }) }),
		})),
	};
}

function describeShards(connection: Connection) {
	const guilds = Map.groupBy(connection.guilds, (guild) => connection.shardOf(guild));
	return connection.shards.map(({ id, connected, since, reason }) => ({
		id,
		connected,
		since: since.toISOString(),
		reason: connected ? undefined : reason,
		guilds: guilds.get(id)?.length ?? 0,
	}));
}
