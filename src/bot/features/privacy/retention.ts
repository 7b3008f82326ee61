// Deletes what is older than a guild keeps it, and everything of a guild 30 days after the bot has left it.

import { Events } from "discord.js";
import { upsert } from "../../../lib/store/statement.ts";
import type { Feature, FeatureOptions } from "../../commands/feature.ts";
import { Durable } from "../../store/durable.ts";
import { eraseGuild, eraseOld } from "../../store/personal-data.ts";
import { selectKnownGuilds } from "../../store/tables/privacy.ts";

const dayMs = 86_400_000;
const leftMs = 30 * dayMs;

interface RetentionTiming {
	now?: () => number;
	backOffMs?: readonly [number, number];
	maxSleepMs?: number;
}

export function createRetention(
	{ config, store, settings, connection, log, chatPrivacy }: FeatureOptions,
	{ now = Date.now, ...timing }: RetentionTiming = {},
): Feature {
	const { sql } = store;

	async function clean(): Promise<void> {
		const daysAgo = (days: number) => now() - days * dayMs;
		await eraseOld(sql, "calls", { before: daysAgo(config.toml.mcp.audit_days) });
		await settings.ready();
		for (const { guild_id: guild } of await selectKnownGuilds(sql))
			for (const period of ["cases", "reports", "calls"] as const) {
				const days = settings.of(guild)[`keep.${period}_days`];
				if (days !== undefined) await eraseOld(sql, period, { guild, before: daysAgo(days) });
			}
	}

	/** Also during an outage of the guild. */
	const isHere = (id: string) => !connection.ready || connection.guild(id) !== undefined;

	/** Since when the bot is no longer in each guild. Also notices what happened while it was off. */
	async function noteGuilds() {
		const known = new Map((await selectKnownGuilds(sql)).map(({ guild_id, left_at }) => [guild_id, left_at]));
		const ids = new Set([...known.keys(), ...(connection.ready ? connection.guilds.map(({ id }) => id) : [])]);
		const all = [...ids].map((guild_id) => {
			const before = known.get(guild_id);
			// Nothing is known of where the bot is while it is not connected.
			const left_at = !connection.ready ? (before ?? null) : isHere(guild_id) ? null : (before ?? now());
			return { guild_id, left_at };
		});
		const changed = all.filter(({ guild_id, left_at }) => known.get(guild_id) !== left_at);
		await upsert(sql, "known_guilds", ["guild_id"], changed);
		return all;
	}

	async function erase(guild: string): Promise<void> {
		await eraseGuild(sql, guild, () => isHere(guild));
		if (isHere(guild)) return;
		settings.forget(guild);
		chatPrivacy?.reload();
		log.info("erased what was stored of a guild that the bot left 30 days ago", { guild });
	}

	const failure = "could not erase what is stored of a guild that the bot has left";
	const work = new Durable({
		...{ name: "privacy", log, clean, maxSleepMs: 3_600_000, ...timing },
		scan: async () =>
			(await noteGuilds()).flatMap(({ guild_id: guild, left_at }) => {
				const inMs = (left_at ?? 0) + leftMs - now();
				return isHere(guild) ? [] : { key: guild, inMs, failure, fields: { guild }, run: () => erase(guild) };
			}),
	});
	return {
		attach(client) {
			for (const event of [Events.ClientReady, Events.GuildCreate, Events.GuildDelete] as const)
				client.on(event, work.wake);
		},
		start: work.wake,
		close: () => work.close(),
	};
}
