// Notices mass deletions: many channels or roles that one person or bot deletes within a short time. Keeps the last backup
// from before, so that it is not rotated away, and tells the operators who did it and how to restore the guild.

import { AuditLogEvent, type Client, Colors, EmbedBuilder, Events, type Guild, SnowflakeUtil } from "discord.js";
import { canReadAuditLog, readAuditLog } from "../../../discord/audit-log.ts";
import type { Connection } from "../../../discord/connection/connection.ts";
import { GuildChecks } from "../../../discord/connection/session-events.ts";
import { userName } from "../../../discord/describe.ts";
import { inlineText } from "../../../discord/text.ts";
import { compareIds } from "../../../guild-document/names/ids.ts";
import type { Registry } from "../../../lib/metrics.ts";
import type { Sql } from "../../../lib/store/statement.ts";
import { type Said, type Say, said } from "../../../texts/texts.ts";
import { Durable, type DurableOptions, type Step } from "../../store/durable.ts";
import type { Store } from "../../store/store.ts";
import { type GuildBackupRow, selectDueNotices, setNoticed } from "../../store/tables/guild-backups.ts";
import { saveDeletionMark, selectDeletionMark } from "../../store/tables/guild-deletion-marks.ts";
import { isJobReason } from "../jobs/made-things.ts";
import type { Backups } from "./backups.ts";

export interface DeletionWatchOptions extends Pick<DurableOptions, "log" | "backOffMs"> {
	/** So many channels and roles deleted by one person within `windowMs` are a mass deletion. */
	settings: { deletions: number; windowMs: number };
	/** Ids; undefined for all. */
	guilds: ReadonlySet<string> | undefined;
	connection: Pick<Connection, "ready" | "guilds">;
	backups: Pick<Backups, "keepBefore">;
	store: Pick<Store, "sql">;
	/** Resolves when it was sent or sending failed. Undefined without a channel for operators. */
	notify(guildId: string, notice: (say: Say) => EmbedBuilder): Promise<void>;
	registry?: Registry | undefined;
	/** Milliseconds. */
	monotonicNow?: () => number;
}

interface Deletion {
	id: string;
	at: number;
	entryId?: string | undefined;
}

interface Alarm {
	guild: Guild;
	reason: string;
	ids: readonly string[];
	/** The operators were already told, because the database was unavailable. */
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
/** Audit log entries remembered as counted, so that they are not counted twice. */
const maxHandled = 10_000;
const [lastId, firstId] = [String(2n ** 63n), "0"];

export class DeletionWatch {
	readonly #sql: Sql;
	readonly #monotonicNow: () => number;
	readonly #checks: GuildChecks;
	readonly #bursts = new Map<string, { deletions: Deletion[]; isKnown: boolean }>();
	/** Those for which an earlier backup must still be exempted from the rotation. */
	readonly #alarms = new Set<Alarm>();
	readonly #handled = new Set<string>();
	/** The last processed audit log entry that is not stored as such, by guild id. */
	readonly #marks = new Map<string, string>();
	#lastAlarm = 0;
	readonly #counter;
	readonly #work: Durable;

	constructor(private readonly options: DeletionWatchOptions) {
		const { connection, store, registry, monotonicNow = () => performance.now() } = options;
		this.#sql = store.sql;
		this.#monotonicNow = monotonicNow;
		this.#checks = new GuildChecks(connection);
		this.#counter = registry?.counter("guildhall_bot_mass_deletions_total", "Mass deletions of channels and roles.");
		this.#work = new Durable({
			...options,
			name: "mass deletions",
			scan: async () => (connection.ready ? [...this.#dueChecks(), ...(await this.#dueNotices())] : []),
		});
	}

	/** For deletions that the bot missed, for example while it was offline. */
	#dueChecks(): Step[] {
		return this.#checks.due.map((guild) => ({
			key: `check ${guild.id}`,
			lane: "check",
			failure: "could not look for mass deletions of channels and roles in the guild's Discord audit log",
			fields: { guild: guild.id },
			run: () => this.#checks.run(guild, () => this.#check(guild)),
		}));
	}

	async #dueNotices(): Promise<Step[]> {
		return (await selectDueNotices(this.#sql)).map((row) => ({
			key: `notice ${row.guild_id} ${row.number}`,
			failure: "could not send the notice that many channels or roles of a guild were deleted",
			fields: { guild: row.guild_id },
			run: () => this.#tell(row),
		}));
	}

	async #check(guild: Guild): Promise<void> {
		if (!this.#isServed(guild) || !canReadAuditLog(guild)) return;
		const mark = await selectDeletionMark(this.#sql, guild.id);
		const entries: Entry[] = [];
		for (const action of deletionActions)
			for (const { id, user_id, target_id, reason } of await readAuditLog(guild, action, mark ?? lastId))
				entries.push({ id, executorId: user_id, targetId: target_id, reason });
		entries.sort((a, b) => compareIds(a.id, b.id));
		const newest = entries.at(-1)?.id ?? firstId;
		// At the first start, what happened before is none of the bot's business.
		if (mark === undefined) return this.#setMark(guild, newest);
		for (const entry of entries) if (compareIds(entry.id, mark) > 0) this.#noteEntry(guild, entry);
		const since = timeOf(newest) - this.options.settings.windowMs;
		const old = entries.findLast(({ id }) => timeOf(id) < since);
		if (old) this.#setMark(guild, old.id);
	}

	#setMark({ id }: Pick<Guild, "id">, entryId: string): void {
		if (compareIds(entryId, this.#marks.get(id) ?? firstId) >= 0) this.#marks.set(id, entryId);
		void this.#work.add({
			key: `mark ${id}`,
			failure: "could not store which audit log entries were checked for mass deletions",
			fields: { guild: id },
			run: () => this.#saveMark(id),
		});
	}

	async #saveMark(guildId: string): Promise<void> {
		const entryId = this.#marks.get(guildId);
		// A mass deletion that is not recorded yet must be found again after a kill.
		const isPending = this.#alarms.values().some(({ guild }) => guild.id === guildId);
		if (entryId === undefined || isPending) return;
		await saveDeletionMark(this.#sql, guildId, entryId);
		if (this.#marks.get(guildId) === entryId) this.#marks.delete(guildId);
	}

	#isServed({ id }: Guild): boolean {
		return this.options.guilds?.has(id) ?? true;
	}

	#noteEntry(guild: Guild, { id: entryId, executorId, targetId, reason }: Entry): void {
		if (targetId === null || this.#handled.has(entryId)) return;
		this.#handled.add(entryId);
		const [first] = this.#handled;
		if (this.#handled.size > maxHandled && first !== undefined) this.#handled.delete(first);
		const { client } = guild;
		// A plan with prune was shown and approved.
		if (executorId === client.user.id && isJobReason(reason ?? "")) return;
		const user = client.users.cache.get(executorId ?? "");
		const actor =
			executorId === null ? undefined : { id: executorId, name: user ? userName(user) : `the user ${executorId}` };
		// By Discord's clock: after a lost connection, all events arrive at once.
		this.#note(guild, actor, { id: targetId, at: timeOf(entryId), entryId });
	}

	#note(guild: Guild, actor: { id: string; name: string } | undefined, deletion: Deletion): void {
		if (!this.#isServed(guild)) return;
		const { at, entryId } = deletion;
		const key = `${guild.id} ${actor?.id ?? ""}`;
		const before = this.#bursts.get(key);
		const recent = before?.deletions.filter((one) => Math.abs(at - one.at) < this.options.settings.windowMs) ?? [];
		const burst = {
			deletions: [...recent, deletion].slice(-this.options.settings.deletions),
			isKnown: before?.isKnown === true && recent.length > 0,
		};
		this.#bursts.delete(key);
		this.#bursts.set(key, burst);
		const [oldest] = this.#bursts.keys();
		if (this.#bursts.size > maxBursts && oldest !== undefined) this.#bursts.delete(oldest);
		if (burst.isKnown && entryId !== undefined) this.#setMark(guild, entryId);
		if (burst.isKnown || burst.deletions.length < this.options.settings.deletions) return;
		burst.isKnown = true;
		const who = actor?.name ?? "someone (the bot lacks VIEW_AUDIT_LOG)";
		const alarm = {
			guild,
			reason: `${who} deleted ${this.options.settings.deletions} channels or roles within ${this.options.settings.windowMs / 1000} s`,
			ids: burst.deletions.map((one) => one.id),
			isNoticed: false,
			entryId,
		};
		this.#lastAlarm += 1;
		this.#alarms.add(alarm);
		void this.#work.add({
			key: `alarm ${this.#lastAlarm}`,
			failure: "could not exempt the backup from before a mass deletion from the clean-up of old backups",
			fields: { guild: guild.id },
			run: () => this.#keepBackup(alarm),
		});
		this.#counter?.add([]);
		this.options.log.warn("noticed a mass deletion of channels or roles", {
			guild: guild.id,
			actor: actor?.id,
			deletions: this.options.settings.deletions,
			seconds: this.options.settings.windowMs / 1000,
		});
	}

	/** Also stores that the operators must be told; `tell` then tells them. */
	async #keepBackup(alarm: Alarm): Promise<void> {
		const { guild, reason, ids, isNoticed, entryId } = alarm;
		try {
			const kept = await this.options.backups.keepBefore(guild.id, ids, { reason, notice: !isNoticed });
			this.#alarms.delete(alarm);
			const mark = entryId ?? this.#marks.get(guild.id);
			if (mark !== undefined) this.#setMark(guild, mark);
			if (!kept) await this.#tellAtOnce(alarm, said("audit.deletion.no_backup"));
		} catch (error) {
			await this.#tellAtOnce(alarm, said("audit.deletion.later"));
			throw error;
		}
	}

	async #tellAtOnce(alarm: Alarm, backup: Said): Promise<void> {
		if (alarm.isNoticed) return;
		alarm.isNoticed = true;
		await this.options.notify(alarm.guild.id, noticeOf(alarm.guild.name, alarm.reason, backup));
	}

	async #tell(row: GuildBackupRow): Promise<void> {
		const { guild_id, guild_name, made_at, kept_reason } = row;
		const backup = { number: String(row.number), when: `<t:${Math.floor(made_at / 1000)}:f>`, guild: guild_id };
		const notice = noticeOf(guild_name, kept_reason ?? "", said("audit.deletion.kept", backup));
		await this.options.notify(guild_id, notice);
		await setNoticed(this.#sql, row);
	}

	attach(client: Client): void {
		client.on(Events.GuildAuditLogEntryCreate, (entry, guild) => {
			if (deletionActions.includes(entry.action)) this.#noteEntry(guild, entry);
		});
		// Without the audit log nobody knows who did it.
		const noteUnread = (guild: Guild, id: string) => {
			if (!canReadAuditLog(guild)) this.#note(guild, undefined, { id, at: this.#monotonicNow() });
		};
		client.on(Events.ChannelDelete, (channel) => {
			if (!channel.isDMBased()) noteUnread(channel.guild, channel.id);
		});
		client.on(Events.GuildRoleDelete, ({ guild, id }) => noteUnread(guild, id));
		this.#checks.attach(client, this.#work.retryAll, this.#work.wake);
	}

	start(): void {
		this.#work.wake();
	}

	close(): Promise<void> {
		return this.#work.close();
	}
}

/** `reason`: as it is stored with the backup. */
function noticeOf(guildName: string, reason: string, backup: Said) {
	const stored = /^(?:.*\(ID: (\d+)\)|the user (\d+)|.*) deleted (\d+) channels or roles within ([\d.]+) s$/s;
	const [, known, unknown, deletions, seconds = ""] = stored.exec(reason) ?? [];
	const id = known ?? unknown;
	return (say: Say) =>
		new EmbedBuilder()
			.setTitle(say("audit.deletion.title"))
			.setColor(Colors.Red)
			.setDescription(
				say("audit.deletion", {
					server: inlineText(guildName, 200),
					who: id === undefined ? said("audit.deletion.unknown") : `<@${id}>`,
					count: Number(deletions),
					seconds,
					backup,
				}),
			);
}

function timeOf(id: string): number {
	return SnowflakeUtil.timestampFrom(id);
}
