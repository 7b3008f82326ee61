// Announcements: tells a channel that it was locked, has a slow mode, is in raid mode or was purged, and deletes
// the message when the state ends, no matter who ended it. A row is stored before the message is sent, and each row is compared
// with the current state, so a restart leaves no message behind.

import { type APIMessage, type Client, Events, type Guild, RESTJSONErrorCodes, Routes } from "discord.js";
import type { Connection } from "../../discord/connection/connection.ts";
import { onSessionOrGuild } from "../../discord/connection/session-events.ts";
import { absentIf } from "../../discord/find.ts";
import { saidPlatformError } from "../../discord/rest/errors.ts";
import { endingEarlier, isOutcomeUnknown } from "../../discord/rest/rest.ts";
import type { Sql } from "../../lib/store/statement.ts";
import { languageOf, render, type Said, said } from "../../texts/texts.ts";
import { findSent } from "../commands/find-sent.ts";
import { channels, duration } from "../results/result.ts";
import { Durable, type DurableOptions, DurablePart, NotNow, type Step } from "../store/durable.ts";
import type { Store } from "../store/store.ts";
import { type Announcement, announcementRows, channelLockRows } from "../store/tables/channel-locks.ts";
import { raidModeRows } from "../store/tables/raid-modes.ts";
import { ignoreUnavailable, StoreUnavailable } from "../store/unavailable.ts";
import type { Announcer, DoneAction } from "../tool/context.ts";

/** Of the tool's time, in milliseconds. */
const reserveMs = 1_000;
const maxNonceLength = 25;
const batchSize = 5;
const { UnknownMessage, UnknownChannel } = RESTJSONErrorCodes;

interface AnnouncementsOptions extends Pick<DurableOptions, "log" | "backOffMs" | "maxSleepMs"> {
	connection: Connection;
	store: Store;
	/** Milliseconds after which a message that got no response can no longer appear. */
	arrivedAfterMs?: number;
}

interface News {
	channelId: string;
	text: Said;
	/** Until when it holds; undefined for what is over at once. */
	until?: Pick<Announcement, "what" | "value">;
}

interface Failed {
	/** Of the channel. */
	id: string;
	/** Undefined if it is not known whether it was announced. */
	reason: Said | undefined;
}

const noDatabase = said("announced.database");

export class Announcements extends DurablePart implements Announcer {
	readonly #sql: Sql;
	protected readonly work: Durable;
	readonly #sending = new Set<string>();

	constructor(private readonly options: AnnouncementsOptions) {
		super();
		this.#sql = options.store.sql;
		this.work = new Durable({
			backOffMs: [1_000, 600_000],
			...options,
			name: "announcements",
			scan: () => this.#scan(),
		});
	}

	async after(done: DoneAction): Promise<readonly Said[]> {
		try {
			const news = done.place === undefined ? [] : await this.#newsOf(done);
			const failed: Failed[] = [];
			for (let at = 0; at < news.length; at += batchSize) {
				const batch = news.slice(at, at + batchSize);
				failed.push(...(await Promise.all(batch.map((one) => this.#announce(done.guild, one)))).flat());
			}
			return notesOf(failed);
		} catch (error) {
			if (error instanceof StoreUnavailable) return [said("announced.failed", { reason: noDatabase })];
			this.options.log.error("could not announce what was done: internal error", { error });
			return [said("announced.failed", { reason: said("announced.internal") })];
		} finally {
			this.work.wake();
		}
	}

	async #newsOf({ guild, draft, args, place = "" }: DoneAction): Promise<News[]> {
		const { action, channelIds = [] } = draft;
		const [only = place, ...others] = draft.concerned?.()?.channelIds ?? channelIds;
		const seconds = Object(args).slowmode ?? 0;
		if (action === "lock") {
			const locks = await Promise.all(channelIds.map((id) => channelLockRows.all(this.#sql, { channel_id: id })));
			return locks.flatMap(([lock]) => {
				if (!lock || !isWritable(guild, lock.channel_id)) return [];
				const until = { what: "lock", value: lock.locked_at } as const;
				return { channelId: lock.channel_id, text: said("announced.lock"), until };
			});
		}
		if (action === "slow_mode" && seconds > 0 && isWritable(guild, only))
			return [
				{
					channelId: only,
					text: said("announced.slow_mode", { interval: duration(seconds * 1_000) }),
					until: { what: "slow_mode", value: seconds },
				},
			];
		if (action === "raid_on")
			return [{ channelId: place, text: said("announced.raid"), until: { what: "raid_on", value: 0 } }];
		if (action !== "purge") return [];
		const [deleted] = draft.concerned?.()?.detail ?? draft.detail ?? [];
		const count = Number(Object(deleted).values?.count ?? 0);
		const isHere = others.length === 0;
		const text = said(isHere ? "announced.purge" : "announced.purge.several", { count });
		return count === 0 ? [] : [{ channelId: isHere ? only : place, text }];
	}

	/** Sends once. Returns what the person must know. */
	async #announce(guild: Guild, { channelId, text, until }: News): Promise<Failed[]> {
		const content = render(text, languageOf(guild.preferredLocale));
		const id = crypto.randomUUID().replaceAll("-", "").slice(0, maxNonceLength);
		const row = { id, guild_id: guild.id, channel_id: channelId, content, asked_at: Date.now(), message_id: null };
		const body = { content, nonce: id, enforce_nonce: true, allowed_mentions: { parse: [] } };
		this.#sending.add(id);
		try {
			const same = until ? await announcementRows.all(this.#sql, { channel_id: channelId, ...until }) : [];
			if (same.length > 0) return [];
			if (until) await announcementRows.insert(this.#sql, [{ ...row, ...until }]);
			const send = () => guild.client.rest.post(Routes.channelMessages(channelId), { body });
			const message = (await endingEarlier(reserveMs, send)) as APIMessage;
			if (until) await announcementRows.change(this.#sql, row, { message_id: message.id }).catch(ignoreUnavailable);
			return [];
		} catch (error) {
			if (isOutcomeUnknown(error)) return [{ id: channelId, reason: undefined }];
			const reason = error instanceof StoreUnavailable ? noDatabase : saidPlatformError(error);
			if (!reason) throw error;
			if (until) await announcementRows.delete(this.#sql, row).catch(ignoreUnavailable);
			return [{ id: channelId, reason }];
		} finally {
			this.#sending.delete(id);
		}
	}

	async #scan(): Promise<Step[]> {
		if (!this.options.connection.ready) return [];
		const steps: Step[] = [];
		const { arrivedAfterMs = 15_000 } = this.options;
		for (const row of await announcementRows.all(this.#sql, {}, "asked_at")) {
			const guild = this.options.connection.guild(row.guild_id);
			if (!guild?.available || this.#sending.has(row.id)) continue;
			const isOver = await this.#isOver(guild, row);
			if (row.message_id !== null && !isOver) continue;
			const waitMs = row.asked_at + arrivedAfterMs - Date.now();
			steps.push({
				key: row.id,
				inMs: row.message_id === null ? Math.min(waitMs, arrivedAfterMs) : 0,
				failure: "could not remove an announcement",
				fields: fieldsOf(row),
				run: () => this.#settle(guild, row, isOver),
			});
		}
		return steps;
	}

	async #isOver(guild: Guild, { channel_id, what, value }: Announcement): Promise<boolean> {
		if (what === "raid_on") return (await raidModeRows.first(this.#sql, { guild_id: guild.id }))?.wanted !== "on";
		if (what === "lock") {
			const rows = await channelLockRows.all(this.#sql, { channel_id });
			return rows.every(({ locked_at }) => locked_at !== value);
		}
		// In threads there are no announcements.
		return Object(guild.channels.cache.get(channel_id)).rateLimitPerUser !== value;
	}

	/** Looks for a message that got no response, and removes the message if it is over. */
	async #settle(guild: Guild, row: Announcement, isOver: boolean): Promise<void> {
		const { rest } = guild.client;
		const { channel_id, what, value } = row;
		const find = () => findSent(guild.client, channel_id, row.asked_at, (one) => one.content === row.content);
		const id = row.message_id ?? (await absentIf([UnknownChannel], find))?.id;
		if (id !== undefined && !isOver) return void (await announcementRows.change(this.#sql, row, { message_id: id }));
		if (id === undefined) this.options.log.warn("found no announcement, so none is removed", fieldsOf(row));
		else {
			// The cache may still have the slow mode from before.
			const read = () => absentIf([UnknownChannel], () => rest.get(Routes.channel(channel_id)));
			if (what === "slow_mode" && Object(await read()).rate_limit_per_user === value)
				throw new NotNow("the slow mode is the announced one");
			await absentIf([UnknownMessage, UnknownChannel], () => rest.delete(Routes.channelMessage(channel_id, id)));
		}
		await announcementRows.delete(this.#sql, row);
	}

	attach(client: Client): void {
		const onChange = (before: object, after: object) => {
			if (Object(before).rateLimitPerUser !== Object(after).rateLimitPerUser) this.work.wake();
		};
		client.on(Events.ChannelUpdate, onChange);
		onSessionOrGuild(client, this.work.retryAll);
	}
}

/** False for forums: messages are only in their posts. */
function isWritable(guild: Guild, channelId: string): boolean {
	return guild.channels.cache.get(channelId)?.isTextBased() !== false;
}

function notesOf(failed: readonly Failed[]): Said[] {
	const byReason = Map.groupBy(failed, ({ reason }) => reason && render(reason, "en"));
	return [...byReason.values()].map((some) => {
		const [{ reason } = {}] = some;
		const channel = channels(some);
		return reason ? said("announced.not", { channel, reason }) : said("announced.unknown", { channel });
	});
}

function fieldsOf({ guild_id, channel_id, what }: Announcement) {
	return { guild: guild_id, channel: channel_id, what };
}
