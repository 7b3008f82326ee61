// Notices mass deletions: many channels or roles that one person or bot deletes within a short time. Keeps the last backup
// from before, so that it is not rotated away, and tells the operators who did it and how to restore the guild.

import {
	AuditLogEvent,
	type Client,
	Colors,
	EmbedBuilder,
	Events,
	type Guild,
	PermissionFlagsBits,
} from "discord.js";
import type { Log } from "../../lib/log.ts";
import type { Registry } from "../../lib/metrics.ts";
import { createReconciler, type Step } from "../../lib/reconciler.ts";
import type { Connection } from "../discord/connection/connection.ts";
import { time, userName } from "../discord/describe.ts";
import { inlineText } from "../discord/text.ts";
import { StoreUnavailable } from "../store/database/db-error.ts";
import {
	type GuildBackupRow,
	selectDueNotices,
	setNoticed,
} from "../store/guild-backups.ts";
import type { Store } from "../store/store.ts";
import type { Backups } from "./backups.ts";
import { isJobReason } from "./made-things.ts";

export interface DeletionWatchSettings {
	/** Number of deleted channels and roles that is a mass deletion. */
	deletions: number;
	/** Milliseconds within which they are deleted. */
	windowMs: number;
}

export interface DeletionWatchOptions {
	settings: DeletionWatchSettings;
	/** Ids of the guilds that the bot serves; undefined for all. */
	guilds: ReadonlySet<string> | undefined;
	connection: Pick<Connection, "ready" | "guilds">;
	backups: Pick<Backups, "keepBefore">;
	store: Pick<Store, "sql">;
	/** Posts an embed for the operators. Resolves when it was sent or failed; undefined if there is no channel for it. */
	notify: ((embed: EmbedBuilder) => Promise<void>) | undefined;
	log: Log;
	registry?: Registry | undefined;
	/** Returns the time of a monotonic clock in milliseconds. */
	monotonicNow?: () => number;
	/** Wait before a failed search or write is repeated, in milliseconds: the first wait and the maximum. */
	backOffMs?: readonly [number, number];
}

export interface DeletionWatch {
	attach(client: Client): void;
	start(): void;
	close(): Promise<void>;
}

/** The latest deletions by one person or bot in one guild. */
interface Burst {
	/** In the order of the events. `at` is in milliseconds, and only compared with others of this burst. */
	deletions: { id: string; at: number }[];
	/** Whether the operators were told of this burst, which lasts until nothing is deleted for the length of the window. */
	isKnown: boolean;
}

interface Alarm {
	guild: Guild;
	reason: string;
	/** Ids of the deleted channels and roles. */
	ids: readonly string[];
	/** Whether the operators were told, before the store was available. */
	isNoticed: boolean;
}

/** Maximum number of people and guilds whose deletions are counted at the same time. */
const maxBursts = 1_000;
const shutdownGraceMs = 2_000;

export function createDeletionWatch(
	options: DeletionWatchOptions,
): DeletionWatch {
	const { settings, guilds, connection, backups, store, notify, log } = options;
	const { monotonicNow = () => performance.now() } = options;
	const bursts = new Map<string, Burst>();
	/** Mass deletions of which a backup must still be kept. */
	const alarms = new Map<string, Alarm>();
	/** Whether the store may have kept backups of which nobody was told yet. */
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
			if (!mayHaveNotices || !connection.ready) return { due };
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
				log.error("could not load notices of mass deletions", { error });
		},
	});

	function note(
		guild: Guild,
		actor: { id: string; name: string } | undefined,
		id: string,
		at: number,
	): void {
		if (guilds && !guilds.has(guild.id)) return;
		const key = `${guild.id} ${actor?.id ?? ""}`;
		const before = bursts.get(key);
		const since = at - settings.windowMs;
		const recent = before?.deletions.filter((one) => one.at > since) ?? [];
		const burst = {
			deletions: [...recent, { id, at }].slice(-settings.deletions),
			isKnown: before?.isKnown === true && recent.length > 0,
		};
		bursts.delete(key);
		bursts.set(key, burst);
		const [oldest] = bursts.keys();
		if (bursts.size > maxBursts && oldest !== undefined) bursts.delete(oldest);
		if (burst.isKnown || burst.deletions.length < settings.deletions) return;
		burst.isKnown = true;
		const who = actor?.name ?? "someone (the bot lacks VIEW_AUDIT_LOG)";
		const alarm = {
			guild,
			reason: `${who} deleted ${settings.deletions} channels or roles within ${settings.windowMs / 1000} s`,
			ids: burst.deletions.map((one) => one.id),
			isNoticed: false,
		};
		lastAlarm += 1;
		alarms.set(`alarm ${lastAlarm}`, alarm);
		counter?.add([]);
		log.warn("mass deletion of channels or roles", {
			guild: guild.id,
			actor: actor?.id,
			deletions: settings.deletions,
			seconds: settings.windowMs / 1000,
		});
		reconciler.wake();
	}

	/** Keeps the last backup from before a mass deletion. Its notice is stored with it, and posted by `tell`. */
	async function keepBackup(key: string, alarm: Alarm): Promise<void> {
		const { guild, reason, ids } = alarm;
		try {
			const kept = await backups.keepBefore(guild.id, ids, {
				reason,
				notice: !alarm.isNoticed,
			});
			alarms.delete(key);
			if (kept) mayHaveNotices = true;
			else await tellAtOnce(alarm, "There is no backup from before.");
		} catch (error) {
			if (!(error instanceof StoreUnavailable))
				log.error("could not keep the backup from before a mass deletion", {
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

	/** Tells the operators of a mass deletion that has no backup to name, unless they were told. */
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
				log.error("could not post the notice of a mass deletion", { error });
			mayHaveNotices = true;
			throw error;
		}
	}

	function canReadAuditLog({ members: { me } }: Guild): boolean {
		return me?.permissions.has(PermissionFlagsBits.ViewAuditLog) ?? false;
	}

	return {
		attach(client) {
			client.on(Events.GuildAuditLogEntryCreate, (entry, guild) => {
				const { action, executorId, targetId, reason } = entry;
				const isDeletion =
					action === AuditLogEvent.ChannelDelete ||
					action === AuditLogEvent.RoleDelete;
				if (!isDeletion || targetId === null) return;
				// A plan with prune was shown and approved.
				const isBot = executorId === client.user?.id;
				if (isBot && isJobReason(reason ?? "")) return;
				const actor =
					executorId === null
						? undefined
						: {
								id: executorId,
								name: entry.executor?.username
									? userName({
											id: executorId,
											username: entry.executor.username,
										})
									: `the user ${executorId}`,
							};
				// By Discord's clock: after a lost connection, all events arrive at once.
				note(guild, actor, targetId, entry.createdTimestamp);
			});
			// Without the audit log nobody knows who did it.
			client.on(Events.ChannelDelete, (channel) => {
				if (!channel.isDMBased() && !canReadAuditLog(channel.guild))
					note(channel.guild, undefined, channel.id, monotonicNow());
			});
			client.on(Events.GuildRoleDelete, ({ guild, id }) => {
				if (!canReadAuditLog(guild)) note(guild, undefined, id, monotonicNow());
			});
			client.on(Events.ClientReady, reconciler.retryAll);
		},
		start: reconciler.wake,
		close: () => reconciler.close(shutdownGraceMs),
	};
}

function noticeOf(
	{ id, name }: Pick<Guild, "id" | "name">,
	reason: string,
	text: string,
): EmbedBuilder {
	return new EmbedBuilder()
		.setTitle("Mass deletion")
		.setColor(Colors.Red)
		.setDescription(
			`In ${inlineText(name, 200)} (ID: ${id}), ${inlineText(reason, 500)}.\n${text}`,
		);
}
