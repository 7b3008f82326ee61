// Notices mass deletions: many channels or roles that one person or bot deletes within a short time. Keeps the last backup
// from before, so that it is not rotated away, and tells staff who did it and how to restore the guild.

import { type APIAuditLogEntry, AuditLogEvent, type Client, Events, type Guild, SnowflakeUtil } from "discord.js";
import { canReadAuditLog, onAuditLogEntry, readAuditLog } from "../../../discord/audit-log.ts";
import type { Connection } from "../../../discord/connection/connection.ts";
import { GuildChecks } from "../../../discord/connection/session-events.ts";
import { userName } from "../../../discord/describe.ts";
import { jobReasonStart } from "../../../discord/text.ts";
import { compareIds } from "../../../guild-document/names/ids.ts";
import { LruMap } from "../../../lib/lru-map.ts";
import type { Registry } from "../../../lib/metrics.ts";
import type { Sql } from "../../../lib/store/statement.ts";
import type { Said } from "../../../texts/texts.ts";
import { Durable, type DurableOptions, DurablePart, NotNow, type Step } from "../../store/durable.ts";
import type { Store } from "../../store/store.ts";
import {
	auditLogMarkRows,
	type IncidentRow,
	incidentRows,
	insertIncident,
	raiseMark,
} from "../../store/tables/incidents.ts";
import type { Backups } from "./backups.ts";

/** Resolves when it was sent, or if it cannot be sent. `isStored`: or else the database is unavailable. */
export type Notify = (guild: Guild, row: IncidentRow, isStored: boolean) => Promise<void>;

/** The rule that acts on mass deletions and mass bans. */
export interface Night {
	/** When it knows where it is on. */
	loaded: Promise<unknown>;
	isOn(guildId: string): boolean;
	onSwitchedOn(listener: (guildId: string) => void): void;
	/** What it did, for staff. Stores `row.roles` before. Rejects if it is to be tried again. */
	act(guild: Guild, row: IncidentRow): Promise<readonly Said[]>;
}

export interface DeletionWatchOptions extends Pick<DurableOptions, "log" | "backOffMs" | "maxSleepMs"> {
	/** So many channels and roles deleted by one person within `windowMs` are a mass deletion. */
	settings: { deletions: number; windowMs: number };
	/** Only in guilds with the rule. */
	isSilent?: boolean | undefined;
	night?: Night | undefined;
	/** Ids; undefined for all. */
	guilds: ReadonlySet<string> | undefined;
	connection: Pick<Connection, "ready" | "guilds">;
	backups: Pick<Backups, "keepBefore">;
	store: Pick<Store, "sql">;
	notify: Notify;
	/** For so many milliseconds nothing more is deleted before staff are told, or five times as long at most. */
	settleMs?: number;
	registry?: Registry | undefined;
	/** Milliseconds. */
	monotonicNow?: () => number;
}

interface Deletion {
	id: string;
	name: string;
	at: number;
	entryId?: string | undefined;
}

interface Incident {
	row: IncidentRow;
	guild: Guild;
	ids: readonly string[];
	named: string[];
	/** Staff are told then, so that the number is right. */
	quietAt: number;
	latestAt: number;
	isRecorded: boolean;
	/** The account lost roles then. Wall clock, in epoch milliseconds. */
	strippedAt?: number;
	/** Staff were told already, because the database was unavailable. */
	isNoticed: boolean;
}

interface Burst {
	deletions: Deletion[];
	known: Incident | undefined;
}

const { ChannelDelete, RoleDelete, MemberBanAdd } = AuditLogEvent;
const bans = { deletions: 5, windowMs: 60_000 };

const maxBursts = 1_000;
const maxNames = 10;
/** Audit log entries remembered as counted, so that they are not counted twice. */
const maxHandled = 10_000;
const [lastId, firstId] = [String(2n ** 63n), "0"];

export class DeletionWatch extends DurablePart {
	readonly #sql: Sql;
	readonly #monotonicNow: () => number;
	readonly #checks: GuildChecks;
	readonly #bursts = new LruMap<string, Burst>(maxBursts);
	/** Those that are not stored yet, or of which staff were not told. */
	readonly #live = new Map<string, Incident>();
	readonly #handled = new LruMap<string, true>(maxHandled);
	readonly #switchedOn = new Set<string>();
	/** The last processed audit log entry that is not stored as such, by guild id. */
	readonly #marks = new Map<string, string>();
	readonly #counter;
	protected readonly work: Durable;

	constructor(private readonly options: DeletionWatchOptions) {
		super();
		const { connection, store, registry, monotonicNow = () => performance.now() } = options;
		this.#sql = store.sql;
		this.#monotonicNow = monotonicNow;
		this.#checks = new GuildChecks(connection);
		this.#counter = registry?.counter("guildhall_bot_mass_deletions_total", "Mass deletions of channels and roles.");
		this.work = new Durable({
			...options,
			name: "mass deletions",
			scan: async () => (connection.ready ? [...this.#dueChecks(), ...(await this.#dueIncidents())] : []),
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

	async #dueIncidents(): Promise<Step[]> {
		const before = [...this.#live].filter(([, { isRecorded }]) => isRecorded);
		const rows = await incidentRows.all(this.#sql, { told: 0 }, "first_at, guild_id, id");
		const open = new Set(rows.map(keyOf));
		for (const [key] of before) if (!open.has(key)) this.#live.delete(key);
		return rows.map((row) => ({
			// One after the other, so that each finds what was done with the one before.
			key: `incident ${row.guild_id} ${row.actor_id}`,
			inMs: row.done === null ? 0 : (this.#live.get(keyOf(row))?.quietAt ?? 0) - this.#monotonicNow(),
			failure: "could not act on a mass deletion or mass ban, or tell of it",
			fields: { guild: row.guild_id },
			run: () => this.#process(row),
		}));
	}

	async #check(guild: Guild): Promise<void> {
		await this.options.night?.loaded;
		if (!this.#isServed(guild) || !canReadAuditLog(guild)) return;
		const mark = (await auditLogMarkRows.first(this.#sql, { guild_id: guild.id, wanted: "deletions" }))?.entry_id;
		const entries: APIAuditLogEntry[] = [];
		for (const action of this.#actionsIn(guild)) entries.push(...(await readAuditLog(guild, action, mark ?? lastId)));
		entries.sort((a, b) => compareIds(a.id, b.id));
		const newest = entries.at(-1)?.id ?? firstId;
		// At the first start, and when the rule is switched on, what happened before is none of the bot's business.
		if (mark === undefined || this.#switchedOn.delete(guild.id)) return this.#setMark(guild, newest);
		for (const entry of entries) if (compareIds(entry.id, mark) > 0) this.#noteEntry(guild, entry);
		const since = timeOf(newest) - this.options.settings.windowMs;
		const old = entries.findLast(({ id }) => timeOf(id) < since);
		if (old) this.#setMark(guild, old.id);
	}

	#setMark({ id }: Pick<Guild, "id">, entryId: string): void {
		if (compareIds(entryId, this.#marks.get(id) ?? firstId) >= 0) this.#marks.set(id, entryId);
		void this.work.add({
			key: `mark ${id}`,
			failure: "could not store which audit log entries were checked for mass deletions",
			fields: { guild: id },
			run: async () => {
				const entry_id = this.#marks.get(id);
				// A mass deletion that is not recorded yet must be found again after a kill.
				const isPending = this.#live.values().some(({ guild, isRecorded }) => guild.id === id && !isRecorded);
				if (entry_id === undefined || isPending) return;
				await raiseMark(this.#sql, { guild_id: id, wanted: "deletions", entry_id });
				if (this.#marks.get(id) === entry_id) this.#marks.delete(id);
			},
		});
	}

	#isServed({ id }: Guild): boolean {
		const { guilds, isSilent, night } = this.options;
		return (guilds?.has(id) ?? true) && (!isSilent || night?.isOn(id) === true);
	}

	#actionsIn({ id }: Guild): AuditLogEvent[] {
		return [ChannelDelete, RoleDelete, ...(this.options.night?.isOn(id) ? [MemberBanAdd] : [])];
	}

	#noteEntry(guild: Guild, entry: APIAuditLogEntry): void {
		const { id: entryId, action_type: action, user_id: executorId, target_id: targetId, reason, changes = [] } = entry;
		if (targetId === null || this.#handled.has(entryId)) return;
		this.#handled.set(entryId, true);
		// A plan with prune was shown and approved.
		const isBan = action === MemberBanAdd;
		if (executorId === guild.client.user.id && (isBan || reason?.startsWith(jobReasonStart))) return;
		const sign = action === ChannelDelete ? "#" : "@";
		const { old_value } = changes.find(({ key }) => key === "name") ?? {};
		const name = typeof old_value === "string" ? `${sign}${old_value}` : targetId;
		// By Discord's clock: after a lost connection, all events arrive at once.
		this.#note(guild, executorId, { id: targetId, name, at: timeOf(entryId), entryId }, isBan ? "bans" : "deletions");
	}

	#note(guild: Guild, actor: string | null, event: Deletion, kind: IncidentRow["kind"] = "deletions"): void {
		if (!this.#isServed(guild)) return;
		const { settleMs = 3_000 } = this.options;
		const settings = kind === "bans" ? bans : this.options.settings;
		const { at, entryId } = event;
		const key = `${guild.id} ${kind} ${actor ?? ""}`;
		const last = this.#bursts.get(key);
		// Who goes on after losing roles has them again.
		const before = at > (last?.known?.strippedAt ?? Infinity) + settleMs ? undefined : last;
		const recent = before?.deletions.filter((one) => Math.abs(at - one.at) < settings.windowMs) ?? [];
		const burst: Burst = { deletions: [...recent, event].slice(-settings.deletions), known: undefined };
		if (recent.length > 0) burst.known = before?.known;
		this.#bursts.set(key, burst);
		if (burst.known) {
			const { known } = burst;
			const { row } = known;
			row.count += 1;
			known.named.push(event.name);
			row.names = JSON.stringify(known.named.slice(0, maxNames));
			row.last_at = Math.max(row.last_at, entryId === undefined ? Date.now() : at);
			known.quietAt = Math.min(this.#monotonicNow() + settleMs, known.latestAt);
			if (entryId !== undefined) this.#setMark(guild, entryId);
			return;
		}
		if (burst.deletions.length >= settings.deletions) burst.known = this.#begin(guild, actor, burst.deletions, kind);
	}

	#begin(guild: Guild, actor: string | null, deletions: readonly Deletion[], kind: IncidentRow["kind"]): Incident {
		const { settleMs = 3_000, log } = this.options;
		const times = deletions.map(({ at, entryId }) => (entryId === undefined ? Date.now() : at));
		const named = deletions.map(({ name }) => name);
		const last = deletions.at(-1);
		const row: IncidentRow = {
			guild_id: guild.id,
			id: last?.entryId ?? last?.id ?? "",
			kind,
			actor_id: actor,
			count: deletions.length,
			names: JSON.stringify(named.slice(0, maxNames)),
			first_at: Math.min(...times),
			last_at: Math.max(...times),
			backup: null,
			backup_at: null,
			roles: null,
			done: null,
			told: 0,
		};
		const quietAt = this.#monotonicNow() + settleMs;
		const latestAt = this.#monotonicNow() + 5 * settleMs;
		const ids = deletions.map(({ id }) => id);
		const incident: Incident = { row, guild, ids, named, quietAt, latestAt, isRecorded: false, isNoticed: false };
		this.#live.set(keyOf(row), incident);
		void this.work.add({
			key: `record ${keyOf(row)}`,
			failure: "could not exempt the backup from before a mass deletion from the clean-up of old backups",
			fields: { guild: guild.id },
			run: () => this.#record(incident),
		});
		this.#counter?.add([]);
		const fields = { guild: guild.id, actor: actor ?? undefined, kind, count: deletions.length };
		log.warn("noticed a mass deletion of channels or roles, or a mass ban", fields);
		return incident;
	}

	/** Also stores that staff must be told; `process` then tells them. */
	async #record(incident: Incident): Promise<void> {
		const { guild, row, ids } = incident;
		const { backups, settings, night, isSilent, settleMs = 3_000 } = this.options;
		const user = guild.client.users.cache.get(row.actor_id ?? "");
		const who = user ? userName(user) : row.actor_id ? `the user ${row.actor_id}` : "someone";
		try {
			const kept =
				row.kind === "deletions" && (await backups.keepBefore(guild.id, ids, `from before a mass deletion by ${who}`));
			if (kept) Object.assign(row, { backup: Number(kept.name), backup_at: kept.madeAt.getTime() });
			if (incident.isNoticed && !night?.isOn(guild.id)) row.told = 1;
			await insertIncident(this.#sql, row, settings.windowMs, settleMs);
			incident.isRecorded = true;
			const mark = row.actor_id === null ? this.#marks.get(guild.id) : row.id;
			if (mark !== undefined) this.#setMark(guild, mark);
		} catch (error) {
			const mustTell = !incident.isNoticed && !isSilent && row.kind === "deletions";
			incident.isNoticed = true;
			if (mustTell) await this.options.notify(guild, row, false);
			throw error;
		}
	}

	async #process(row: IncidentRow): Promise<void> {
		const guild = this.options.connection.guilds.find(({ id }) => id === row.guild_id);
		if (!guild) throw new NotNow("the bot is not in the guild");
		if (row.done === null) {
			await this.options.night?.loaded;
			const done = (await this.options.night?.act(guild, row)) ?? [];
			const live = this.#live.get(keyOf(row));
			if (live && row.roles !== null) live.strippedAt = Date.now();
			return void (await incidentRows.change(this.#sql, row, { roles: row.roles, done: JSON.stringify(done) }));
		}
		const { count, names, last_at } = this.#live.get(keyOf(row))?.row ?? row;
		const now = { count, names, last_at };
		const isMere = row.done === "[]" && (row.kind === "bans" || this.options.isSilent);
		if (!isMere) await this.options.notify(guild, { ...row, ...now }, true);
		await incidentRows.change(this.#sql, row, { ...now, told: 1 });
	}

	attach(client: Client): void {
		onAuditLogEntry(client, (entry, guild) => {
			if (this.#actionsIn(guild).includes(entry.action_type)) this.#noteEntry(guild, entry);
		});
		// Without the audit log nobody knows who did it.
		const noteUnread = (guild: Guild, id: string, name: string) => {
			if (!canReadAuditLog(guild)) this.#note(guild, null, { id, name, at: this.#monotonicNow() });
		};
		client.on(Events.ChannelDelete, (channel) => {
			if (!channel.isDMBased()) noteUnread(channel.guild, channel.id, `#${channel.name}`);
		});
		client.on(Events.GuildRoleDelete, ({ guild, id, name }) => noteUnread(guild, id, `@${name}`));
		this.#checks.attach(client, this.work.retryAll, this.work.wake);
	}

	override start(): void {
		this.options.night?.onSwitchedOn((guildId) => {
			this.#switchedOn.add(guildId);
			this.#checks.repeat(guildId);
			this.work.wake();
		});
		this.work.wake();
	}
}

function keyOf({ guild_id, id }: IncidentRow): string {
	return `${guild_id} ${id}`;
}

function timeOf(id: string): number {
	return SnowflakeUtil.timestampFrom(id);
}
