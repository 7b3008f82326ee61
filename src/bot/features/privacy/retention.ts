// Deletes what is older than a guild keeps it, and everything of a guild 30 days after the bot has left it.

import { Events } from "discord.js";
import { upsert } from "../../../lib/store/statement.ts";
import type { Feature, FeatureOptions } from "../../commands/feature.ts";
import { Durable, type DurableOptions } from "../../store/durable.ts";
import { eraseGuild, eraseOld } from "../../store/personal-data.ts";
import { selectKnownGuilds } from "../../store/tables/privacy.ts";

const hourMs = 3_600_000;
const leftMs = 30 * 86_400_000;

export function createRetention(
	{ config, store, settings, connection, log, chatPrivacy }: FeatureOptions,
	{ now = Date.now, ...timing }: Pick<DurableOptions, "backOffMs" | "maxSleepMs"> & { now?: () => number } = {},
): Feature {
	const { sql } = store;
	const clock = () => now() - performance.now();
	let [cleanAt, waitUntil, clockBefore] = [0, 0, clock()];

	/** After a jump ahead nothing is deleted for an hour, so that a wrong clock can be set right. */
	function noticeJump(): void {
		const jumpMs = clock() - clockBefore;
		clockBefore += jumpMs;
		if (jumpMs < hourMs) return;
		waitUntil = performance.now() + hourMs;
		log.warn("the clock jumped ahead: nothing is deleted for an hour", { seconds: Math.round(jumpMs / 1_000) });
	}

	async function clean(): Promise<void> {
		const { mcp, chat } = config.toml;
		await eraseOld(sql, now(), { calls: mcp.audit_days, chat: chat.keep_days });
		await settings.ready();
		for (const { guild_id } of await selectKnownGuilds(sql)) {
			const keep = settings.of(guild_id);
			const [cases, reports, calls] = [keep["keep.cases_days"], keep["keep.reports_days"], keep["keep.calls_days"]];
			await eraseOld(sql, now(), { cases, reports, calls }, guild_id);
		}
		cleanAt = performance.now() + hourMs;
	}

	/** Also during an outage of the guild. */
	const isHere = (id: string) => !connection.ready || connection.guild(id) !== undefined;

	/** Those that the bot has left, with what it missed while it was off. */
	async function leftGuilds() {
		const before = new Map((await selectKnownGuilds(sql)).map(({ guild_id, left_at }) => [guild_id, left_at]));
		if (!connection.ready) return [];
		const ids = new Set([...before.keys(), ...connection.guilds.map(({ id }) => id)]);
		const leftAt = (id: string) => (isHere(id) ? null : Math.min(before.get(id) ?? now(), now()));
		const all = [...ids].map((guild_id) => ({ guild_id, left_at: leftAt(guild_id) }));
		const changed = all.filter(({ guild_id, left_at }) => before.get(guild_id) !== left_at);
		await upsert(sql, "known_guilds", ["guild_id"], changed);
		return all.flatMap(({ guild_id: guild, left_at }) => (left_at === null ? [] : { guild, left_at }));
	}

	async function erase(guild: string): Promise<void> {
		await eraseGuild(sql, guild, () => isHere(guild));
		if (isHere(guild)) return;
		settings.forget(guild);
		chatPrivacy.reload();
		log.info("erased what was stored of a guild that the bot left 30 days ago", { guild });
	}

	const failure = "could not delete expired data";
	const work = new Durable({
		...{ name: "retention", log, ...timing },
		async scan() {
			noticeJump();
			const left = (await leftGuilds()).map(({ guild, left_at }) => {
				return { key: guild, inMs: left_at + leftMs - now(), failure, fields: { guild }, run: () => erase(guild) };
			});
			const all = [...left, { key: "clean", inMs: cleanAt - performance.now(), failure, run: clean }];
			return all.map((step) => ({ ...step, inMs: Math.max(step.inMs, waitUntil - performance.now()) }));
		},
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
