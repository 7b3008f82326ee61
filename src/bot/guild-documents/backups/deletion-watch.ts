// Notices mass deletions: many channels or roles that one person or bot deletes within a short time. Keeps the last backup
// from before, so that it is not rotated away, and tells the operators who did it and how to restore the guild.

import { AuditLogEvent, type Client, Colors, EmbedBuilder, Events, type Guild, SnowflakeUtil } from "discord.js";
import type { Log } from "../../../lib/log.ts";
import type { Registry } from "../../../lib/metrics.ts";
import { createReconciler, type Step } from "../../../lib/reconciler.ts";
import { canReadAuditLog, readAuditLog } from "../../discord/audit-log.ts";
import type { Connection } from "../../discord/connection/connection.ts";
import { onSessionOrGuild } from "../../discord/connection/session-events.ts";
import { time, userName } from "../../discord/describe.ts";
import { compareIds } from "../../discord/ids.ts";
import { describePlatformError } from "../../discord/rest/errors.ts";
import { inlineText } from "../../discord/text.ts";
import { StoreUnavailable } from "../../store/database/db-error.ts";
import type { Store } from "../../store/store.ts";
import { type GuildBackupRow, selectDueNotices, setNoticed } from "../../store/tables/guild-backups.ts";
import { saveDeletionMark, selectDeletionMark } from "../../store/tables/guild-deletion-marks.ts";
import { isJobReason } from "../jobs/made-things.ts";
import type { Backups } from "./backups.ts";

export interface DeletionWatchSettings {
	/** Number of channels and roles that one person must delete within `windowMs` for a mass deletion. */
	deletions: number;
	/** Length in milliseconds of the time window in which deletions count together as a mass deletion. */
	windowMs: number;
}

export interface DeletionWatchOptions {
	settings: DeletionWatchSettings;
	/** Ids of the guilds that the bot serves; undefined for all. */
	guilds: ReadonlySet<string> | undefined;
	connection: Pick<Connection, "ready" | "guilds">;
	backups: Pick<Backups, "keepBefore">;
	store: Pick<Store, "sql">;
	/**
	 * Posts an embed for the operators. Resolves when it was sent or sending failed. The function is undefined if no
	 * channel for operators is configured.
	 */
	notify: ((embed: EmbedBuilder) => Promise<void>) | undefined;
	log: Log;
	registry?: Registry | undefined;
	/** Returns the time of a monotonic clock in milliseconds. */
	monotonicNow?: () => number;
	/**
	 * Wait before a failed audit log request or database query is retried, in milliseconds: the first wait and the
	 * maximum.
	 */
	backOffMs?: readonly [number, number];
}

export interface DeletionWatch {
	attach(client: Client): void;
	start(): void;
	close(): Promise<void>;
}

interface Deletion {
	id: string;
	at: number;
	entryId?: string | undefined;
}

interface Burst {
	deletions: Deletion[];
	isKnown: boolean;
}

interface Alarm {
	guild: Guild;
	reason: string;
	ids: readonly string[];
	/** Whether the operators were already told of this mass deletion, because the database was unavailable. */
	isNoticed: boolean;
	entryId: string | undefined;
}

interface Entry {
	id: string;
	executorId: string | null;
	targetId: string | null;
	reason: string | null | undefined;
}

const deletionActions: readonly AuditLogEvent[] = [AuditLogEvent.ChannelDelete, AuditLogEvent.RoleDelete];

const maxBursts = 1_000;
/** Maximum number of audit log entries that the bot remembers as counted, so that it does not count them twice. */
const maxHandled = 10_000;
const [lastId, firstId] = [String(2n ** 63n), "0"];
const shutdownGraceMs = 2_000;

export function createDeletionWatch(options: DeletionWatchOptions): DeletionWatch {
	const { settings, guilds, connection, backups, store, notify, log } = options;
	const { monotonicNow = () => performance.now() } = options;
	const bursts = new Map<string, Burst>();
	/** Mass deletions for which an earlier backup must still be exempted from the rotation that deletes old backups. */
	const alarms = new Map<string, Alarm>();
	const handled = new Set<string>();
	/** Ids of the guilds whose audit log must be checked for deletions that the bot has missed. */
	const unchecked = new Set<string>();
	/** Whether the audit logs of all guilds must be checked for deletions that the bot has missed. */
	let isAnyUnchecked = true;
	const marks = new Map<string, string>();
	let mayHaveNotices = true;
	let lastAlarm = 0;
	const counter = options.registry?.counter(
		"guildhall_bot_mass_deletions_total",
		"Mass deletions of channels and roles.",
	);
	const reconciler = createReconciler({
		maxConcurrent: 5,
		backOffMs: options.backOffMs ?? [1_000, 60_000],
		async scan() {
			const due: Step[] = [...alarms].map(([key, alarm]) => ({
				key,
				run: () => keepBackup(key, alarm),
			}));
			const pending = new Set([...alarms.values()].map(({ guild }) => guild.id));
			// A mass deletion that is not recorded yet must be found again after a kill.
			for (const id of marks.keys()) if (!pending.has(id)) due.push({ key: `mark ${id}`, run: () => saveMark(id) });
			if (!connection.ready) return { due };
			if (isAnyUnchecked) for (const { id } of connection.guilds) unchecked.add(id);
			isAnyUnchecked = false;
			for (const guild of connection.guilds)
				if (unchecked.has(guild.id) && guild.available)
					due.push({
						key: `check ${guild.id}`,
						lane: "check",
						run: () => check(guild),
					});
			if (!mayHaveNotices) return { due };
			mayHaveNotices = false;
			try {
				for (const row of await selectDueNotices(store.sql))
					due.push({
						key: `notice ${row.guild_id} ${row.number}`,
						run: () => tell(row),
					});
			} catch (error) {
				mayHaveNotices = true;
				throw error;
			}
			return { due };
		},
		onScanFailure(error) {
			if (!(error instanceof StoreUnavailable))
				log.error("could not load notices of mass deletions from the database", { error });
		},
	});

	async function check(guild: Guild): Promise<void> {
		if (!isServed(guild) || !canReadAuditLog(guild)) {
			unchecked.delete(guild.id);
			return;
		}
		try {
			const mark = await selectDeletionMark(store.sql, guild.id);
			const entries: Entry[] = [];
			for (const action of deletionActions)
				for (const entry of await readAuditLog(guild, action, mark ?? lastId))
					entries.push({
						id: entry.id,
						executorId: entry.user_id,
						targetId: entry.target_id,
						reason: entry.reason,
					});
			entries.sort((a, b) => compareIds(a.id, b.id));
			const newest = entries.at(-1)?.id ?? firstId;
			// At the first start, what happened before is none of the bot's business.
			if (mark === undefined) setMark(guild, newest);
			else {
				for (const entry of entries) if (compareIds(entry.id, mark) > 0) noteEntry(guild, entry);
				const since = timeOf(newest) - settings.windowMs;
				const old = entries.findLast(({ id }) => timeOf(id) < since);
				if (old) setMark(guild, old.id);
			}
			unchecked.delete(guild.id);
		} catch (error) {
			if (!(error instanceof StoreUnavailable))
				log.warn("could not look for mass deletions of channels and roles in the guild's Discord audit log", {
					guild: guild.id,
					reason: describePlatformError(error) ?? String(error),
				});
			throw error;
		}
	}

	function setMark({ id }: Guild, entryId: string): void {
		if (compareIds(entryId, marks.get(id) ?? firstId) >= 0) marks.set(id, entryId);
		reconciler.wake();
	}

	async function saveMark(guildId: string): Promise<void> {
		const entryId = marks.get(guildId);
		if (entryId === undefined) return;
		try {
			await saveDeletionMark(store.sql, guildId, entryId);
		} catch (error) {
			if (!(error instanceof StoreUnavailable))
				log.error("could not store which audit log entries were checked for mass deletions", { guild: guildId, error });
			throw error;
		}
		if (marks.get(guildId) === entryId) marks.delete(guildId);
	}

	function isServed({ id }: Guild): boolean {
		return guilds?.has(id) ?? true;
	}

	function noteEntry(guild: Guild, { id: entryId, executorId, targetId, reason }: Entry): void {
		if (targetId === null || handled.has(entryId)) return;
		handled.add(entryId);
		const [first] = handled;
		if (handled.size > maxHandled && first !== undefined) handled.delete(first);
		const { client } = guild;
		// A plan with prune was shown and approved.
		if (executorId === client.user.id && isJobReason(reason ?? "")) return;
		const user = client.users.cache.get(executorId ?? "");
		const actor =
			executorId === null
				? undefined
				: {
						id: executorId,
						name: user ? userName(user) : `the user ${executorId}`,
					};
		// By Discord's clock: after a lost connection, all events arrive at once.
		note(guild, actor, { id: targetId, at: timeOf(entryId), entryId });
	}

	function note(guild: Guild, actor: { id: string; name: string } | undefined, deletion: Deletion): void {
		if (!isServed(guild)) return;
		const { at, entryId } = deletion;
		const key = `${guild.id} ${actor?.id ?? ""}`;
		const before = bursts.get(key);
		const recent = before?.deletions.filter((one) => Math.abs(at - one.at) < settings.windowMs) ?? [];
		const burst = {
			deletions: [...recent, deletion].slice(-settings.deletions),
			isKnown: before?.isKnown === true && recent.length > 0,
		};
		bursts.delete(key);
		bursts.set(key, burst);
		const [oldest] = bursts.keys();
		if (bursts.size > maxBursts && oldest !== undefined) bursts.delete(oldest);
		if (burst.isKnown && entryId !== undefined) setMark(guild, entryId);
		if (burst.isKnown || burst.deletions.length < settings.deletions) return;
		burst.isKnown = true;
		const who = actor?.name ?? "someone (the bot lacks VIEW_AUDIT_LOG)";
		const alarm = {
			guild,
			reason: `${who} deleted ${settings.deletions} channels or roles within ${settings.windowMs / 1000} s`,
			ids: burst.deletions.map((one) => one.id),
			isNoticed: false,
			entryId,
		};
		lastAlarm += 1;
		alarms.set(`alarm ${lastAlarm}`, alarm);
		counter?.add([]);
		log.warn("noticed a mass deletion of channels or roles", {
			guild: guild.id,
			actor: actor?.id,
			deletions: settings.deletions,
			seconds: settings.windowMs / 1000,
		});
		reconciler.wake();
	}

	/**
	 * Exempts the last backup before a mass deletion from the rotation that deletes old backups. Also stores that the
	 * operators must be told of it; `tell` then tells them.
	 */
	async function keepBackup(key: string, alarm: Alarm): Promise<void> {
		const { guild, reason, ids } = alarm;
		try {
			const kept = await backups.keepBefore(guild.id, ids, {
				reason,
				notice: !alarm.isNoticed,
			});
			alarms.delete(key);
			if (alarm.entryId !== undefined) setMark(guild, alarm.entryId);
			if (kept) mayHaveNotices = true;
			else await tellAtOnce(alarm, "There is no backup from before.");
		} catch (error) {
			if (!(error instanceof StoreUnavailable))
				log.error("could not exempt the backup from before a mass deletion from the clean-up of old backups", {
					guild: guild.id,
					error,
				});
			await tellAtOnce(
				alarm,
				"The bot's database is unavailable. The last backup from before will be kept once it is back.",
			);
			throw error;
		}
	}

	async function tellAtOnce(alarm: Alarm, text: string): Promise<void> {
		if (alarm.isNoticed) return;
		alarm.isNoticed = true;
		await notify?.(noticeOf(alarm.guild, alarm.reason, text));
	}

	async function tell(row: GuildBackupRow): Promise<void> {
		const { guild_id: id, number, guild_name: name, kept_reason } = row;
		const text = `Backup ${number} of ${time(row.made_at)} has what was deleted, and is kept. To restore it: plan_guild with guild_id = "${id}" and backup = "${number}" shows what would change, and apply_guild does it. Messages do not come back.`;
		try {
			await notify?.(noticeOf({ id, name }, kept_reason ?? "", text));
			await setNoticed(store.sql, row);
		} catch (error) {
			if (!(error instanceof StoreUnavailable))
				log.error("could not send the notice that many channels or roles of a guild were deleted", {
					guild: id,
					error,
				});
			mayHaveNotices = true;
			throw error;
		}
	}

	return {
		attach(client) {
			client.on(Events.GuildAuditLogEntryCreate, (entry, guild) => {
				if (deletionActions.includes(entry.action)) noteEntry(guild, entry);
			});
			// Without the audit log nobody knows who did it.
			client.on(Events.ChannelDelete, (channel) => {
				if (!channel.isDMBased() && !canReadAuditLog(channel.guild))
					note(channel.guild, undefined, {
						id: channel.id,
						at: monotonicNow(),
					});
			});
			client.on(Events.GuildRoleDelete, ({ guild, id }) => {
				if (!canReadAuditLog(guild)) note(guild, undefined, { id, at: monotonicNow() });
			});
			// Events of before a new session may be lost.
			const isNewSession = (shard?: number) => {
				if (shard === undefined) isAnyUnchecked = true;
				for (const guild of connection.guilds) if (guild.shardId === shard) unchecked.add(guild.id);
				reconciler.retryAll();
			};
			onSessionOrGuild(client, isNewSession, ({ id }) => {
				unchecked.add(id);
				reconciler.wake();
			});
		},
		start: reconciler.wake,
		close: () => reconciler.close(shutdownGraceMs),
	};
}

function noticeOf({ id, name }: Pick<Guild, "id" | "name">, reason: string, text: string): EmbedBuilder {
	return new EmbedBuilder()
		.setTitle("Mass deletion")
		.setColor(Colors.Red)
		.setDescription(`In ${inlineText(name, 200)} (ID: ${id}), ${inlineText(reason, 500)}.\n${text}`);
}

function timeOf(id: string): number {
	return SnowflakeUtil.timestampFrom(id);
}
