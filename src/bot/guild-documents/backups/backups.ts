// Backups: the bot exports its guilds into its store at intervals, if something has changed, and keeps the newest. All
// parts but the bans; with the roles of members, since nobody could otherwise tell who had which role after roles were
// deleted.

import { type Client, Events, type Guild } from "discord.js";
import { forClients } from "../../../discord/acting-person.ts";
import type { Connection } from "../../../discord/connection/connection.ts";
import { onSessionOrGuild } from "../../../discord/connection/session-events.ts";
import { type GuildDocument, type Part, partNames } from "../../../guild-document/format/document.ts";
import { exportDocument } from "../../../guild-document/read/export.ts";
import { picturesIn } from "../../../guild-document/read/picture.ts";
import type { GuildState } from "../../../guild-document/steps.ts";
import type { Log } from "../../../lib/log.ts";
import type { Registry } from "../../../lib/metrics.ts";
import type { Sql } from "../../../lib/store/statement.ts";
import { ToolError } from "../../../lib/tool-error.ts";
import type { BotConfig } from "../../config/config.ts";
import { Durable, NotNow, reasonOf, type Step } from "../../store/durable.ts";
import type { Store } from "../../store/store.ts";
import {
	type GuildBackupRow,
	keepGuildBackup,
	proveGuildBackup,
	saveGuildBackup,
	selectBackupChecks,
	selectGuildBackup,
	selectGuildBackups,
} from "../../store/tables/guild-backups.ts";
import type { Pictures } from "../read/pictures.ts";
import { type OwnSettings, readGuildState, unseenIn } from "../read/read-guild.ts";

const defaultTiming = {
	/** Wall clock in epoch milliseconds, which may jump. */
	now: Date.now,
	/** Monotonic, in milliseconds. */
	monotonicNow: () => performance.now(),
	/** From the start of the bot to the first backup. */
	startDelayMs: 60_000,
	/** Between the starts of backups of different guilds, so that overdue ones do not all start at once. */
	spacingMs: 30_000,
	/** How long after a new Gateway session a backup waits at most for all members of its guild. */
	membersWaitMs: 600_000,
	/** Between two checks for guilds that need a backup. */
	maxSleepMs: 300_000,
	/** Before a failed backup is retried: the first wait and the maximum. */
	backOffMs: [30_000, 3_600_000] as readonly [number, number],
	/** How long the shutdown of the bot waits for a backup. */
	shutdownGraceMs: 2_000,
};
export type BackupTiming = typeof defaultTiming;

interface BackupsOptions {
	/** Undefined: no new backups. Existing ones can still be read. */
	settings: Pick<NonNullable<BotConfig["toml"]["backup"]>, "every" | "keep"> | undefined;
	/** Ids; undefined for all. */
	guilds: ReadonlySet<string> | undefined;
	connection: Pick<Connection, "ready" | "guilds" | "hasAllMembers">;
	store: Pick<Store, "sql" | "transaction">;
	pictures: Pick<Pictures, "hashesOf">;
	ownSettings?: OwnSettings;
	log: Log;
	registry?: Registry | undefined;
	timing?: Partial<BackupTiming>;
}

export type BackupsStatus = Backups["status"];

const backupParts: readonly Part[] = partNames.filter((part) => part !== "bans" && part !== "messages");
const maxMemberValues = 150_000;
/** So many channels or roles lost since the previous backup exempt that from the rotation. */
const minLost = 5;
const compressFrom = 4_096;
const compressedPrefix = "gzip:";

export class Backups {
	readonly #timing: BackupTiming;
	readonly #sql: Sql;
	readonly #failing = new Map<string, string>();
	/** By guild id, so that the same text is not logged twice in a row. */
	readonly #omittedParts = new Map<string, string>();
	#lastAt: number | undefined;
	#nextStart = Infinity;
	#sessionSince: number;
	readonly #counter;
	readonly #work: Durable;

	constructor(private readonly options: BackupsOptions) {
		const { log, registry } = options;
		this.#timing = { ...defaultTiming, ...options.timing };
		this.#sql = options.store.sql;
		this.#sessionSince = this.#timing.monotonicNow();
		this.#counter = registry?.counter("guildhall_bot_backups_total", "Attempts to back up a guild, by outcome.", [
			"outcome",
		]);
		registry?.gauge("guildhall_bot_backups_failing", "Guilds whose latest backup failed.", [], () => [
			[[], this.#failing.size],
		]);
		this.#work = new Durable({
			...this.#timing,
			name: "backups of guilds",
			log,
			maxConcurrent: 1,
			scan: (running) => this.#scan(running),
		});
	}

	async #scan(running: ReadonlySet<string>): Promise<Step[]> {
		const { settings } = this.options;
		if (!settings) return [];
		const checks = await selectBackupChecks(this.#sql);
		const at = this.#timing.now();
		const due = this.#servedGuilds().map((guild) => {
			const checkedAt = checks.get(guild.id) ?? -Infinity;
			// A time in the future: the clock was set back.
			return { guild, checkedAt, inMs: checkedAt > at ? 0 : checkedAt + settings.every - at };
		});
		due.sort((a, b) => a.checkedAt - b.checkedAt);
		for (const id of this.#failing.keys())
			if (!due.some(({ guild, inMs }) => guild.id === id && inMs <= 0)) this.#failing.delete(id);
		const isRetry = (id: string) => this.#failing.has(id) || running.has(id);
		const first = due.find(({ guild, inMs }) => inMs <= 0 && !isRetry(guild.id));
		return due.map((one) => {
			const { guild, inMs } = one;
			const mustWait = inMs <= 0 && !isRetry(guild.id);
			const pauseMs = one === first ? this.#nextStart - this.#timing.monotonicNow() : Infinity;
			return {
				key: guild.id,
				inMs: mustWait ? pauseMs : inMs,
				failure: "could not back up a guild",
				fields: { guild: guild.id },
				run: () => this.#run(guild),
			};
		});
	}

	readonly #isServed = (guildId: string) => this.options.guilds?.has(guildId) ?? true;

	#servedGuilds(): Guild[] {
		const { connection } = this.options;
		if (!connection.ready) return [];
		const isLate = this.#timing.monotonicNow() >= this.#sessionSince + this.#timing.membersWaitMs;
		return connection.guilds.filter(
			(guild) => guild.available && this.#isServed(guild.id) && (isLate || connection.hasAllMembers(guild)),
		);
	}

	async #run(guild: Guild): Promise<void> {
		const { connection, settings } = this.options;
		// Shorter with many guilds, so that all can be backed up within one interval.
		const ofInterval = (settings?.every ?? 0) / 2 / Math.max(connection.guilds.length, 1);
		this.#nextStart = this.#timing.monotonicNow() + Math.min(this.#timing.spacingMs, ofInterval);
		try {
			const outcome = await this.#backUp(guild);
			this.#counter?.add([outcome]);
			this.#failing.delete(guild.id);
			this.#lastAt = this.#timing.now();
		} catch (error) {
			this.#failing.set(guild.id, reasonOf(error) ?? "internal error");
			this.#counter?.add(["failed"]);
			throw error;
		}
	}

	async #backUp(guild: Guild): Promise<"made" | "unchanged"> {
		const { settings, connection, store, log } = this.options;
		if (!settings || !connection.ready || !guild.available) throw new NotNow("the guild is unavailable on Discord");
		const { document, state, omitted } = await this.#exportGuild(guild);
		const text = JSON.stringify(document);
		if (omitted !== "" && this.#omittedParts.get(guild.id) !== omitted)
			log.warn("the backup of a guild is incomplete", { guild: guild.id, omitted });
		this.#omittedParts.set(guild.id, omitted);
		const saved = await saveGuildBackup(
			store,
			{
				guild_id: guild.id,
				made_at: this.#timing.now(),
				guild_name: storable(state.guild.name),
				length: Buffer.byteLength(text),
				sha256: Bun.SHA256.hash(text, "hex"),
				channels: state.channels.length,
				roles: state.guild.roles.length,
				omitted: storable(omitted),
				document: encode(text),
				pictures: picturesIn(document),
			},
			{
				keep: settings.keep,
				keepReason: ({ channels, roles }) =>
					lossOf("channels", channels, state.channels.length) ?? lossOf("roles", roles, state.guild.roles.length),
			},
		);
		if (saved.outcome === "unchanged") return "unchanged";
		log.info("made a backup of a guild", { guild: guild.id, backup: saved.number, length: text.length });
		if (saved.kept !== undefined)
			log.warn("the previous backup of a guild will not be deleted automatically", {
				guild: guild.id,
				new_backup: saved.number,
				reason: saved.kept,
			});
		return "made";
	}

	async #exportGuild(guild: Guild) {
		const { connection, pictures, ownSettings } = this.options;
		const hasMembers = connection.hasAllMembers(guild);
		const parts = hasMembers ? backupParts : backupParts.filter((part) => part !== "members");
		const read = await readGuildState(guild, parts, { connection, pictures, ownSettings });
		const unreadable = [...read.unreadable, ...unseenIn(read.state)];
		if (!hasMembers) unreadable.push({ part: "members", why: "they were not all loaded" });
		const withRoles = read.state.members?.filter(({ roles }) => roles.length > 0);
		const values = withRoles?.reduce((sum, { roles }) => sum + 3 + roles.length, 0);
		const isTooLarge = (values ?? 0) > maxMemberValues;
		if (isTooLarge)
			unreadable.push({ part: "members", why: `${withRoles?.length} members have roles, too many for a backup` });
		const state: GuildState = { ...read.state, members: isTooLarge ? undefined : withRoles };
		return {
			state,
			document: exportDocument(state, parts),
			omitted: unreadable.map(({ part, why }) => `${part}: ${why}`).join("; "),
		};
	}

	/**
	 * `name`: "12" or "latest"; of another guild "123456789012345678/12", for callers that may know it. Rejects with a
	 * ToolError if there is none.
	 */
	async read(guildId: string, name: string, mayTouch = (_guildId: string) => true) {
		const [, other, which = ""] =
			/^(?:(\d{17,20})\/)?(\d{1,9}|latest)$/.exec(name.trim().replace(/^backup /i, "")) ?? [];
		const id = other ?? guildId;
		const number = which === "latest" ? undefined : Number(which);
		const isKnown = which !== "" && this.#isServed(id) && mayTouch(id);
		const row = isKnown ? await selectGuildBackup(this.#sql, id, number) : undefined;
		if (!row)
			throw new ToolError(
				`There is no backup ${JSON.stringify(name)} of the guild ${id}.${forClients(' Use list_backups to find backups; "latest" is the newest, and GUILD_ID/NAME one of another guild.')}`,
			);
		// The bot itself wrote it.
		const document = JSON.parse(decode(row.document)) as GuildDocument;
		return { ...describe(row), document };
	}

	/** Rejects with StoreUnavailable. */
	prove = (guildId: string, name: string) =>
		proveGuildBackup(this.#sql, { guild_id: guildId, number: Number(name) }, this.#timing.now());

	/** The newest first. Rejects with StoreUnavailable. */
	async list(guildId: string) {
		return (await selectGuildBackups(this.#sql, guildId)).map(describe);
	}

	/**
	 * Exempts the backup with most of these deleted things from the rotation, and returns it; undefined if none has any.
	 * Rejects with StoreUnavailable.
	 */
	async keepBefore(
		guildId: string,
		deletedIds: readonly string[],
		reason: string,
	): Promise<ReturnType<typeof describe> | undefined> {
		let best: { row: GuildBackupRow; count: number } | undefined;
		for (const { number } of await selectGuildBackups(this.#sql, guildId)) {
			const row = await selectGuildBackup(this.#sql, guildId, number);
			// It was rotated meanwhile.
			if (row?.number !== number) continue;
			const text = decode(row.document);
			const count = deletedIds.filter((id) => text.includes(`"id":"${id}"`)).length;
			if (count > (best?.count ?? 0)) best = { row, count };
			if (count === deletedIds.length) break;
		}
		if (!best) return undefined;
		const { row } = best;
		await keepGuildBackup(this.#sql, row, { at: this.#timing.now(), reason });
		this.options.log.warn("a backup of a guild will not be deleted automatically", {
			guild: guildId,
			backup: row.number,
			reason,
		});
		return describe(row);
	}

	get status() {
		return {
			/** Milliseconds between two backups of a guild; undefined if the bot makes none. */
			every: this.options.settings?.every,
			/** The reason by guild id, for guilds whose latest backup failed. */
			failing: this.#failing as ReadonlyMap<string, string>,
			/** Of the last backup, or guild found unchanged, since the start. */
			lastAt: this.#lastAt === undefined ? undefined : new Date(this.#lastAt),
		};
	}

	attach(client: Client): void {
		const isNewSession = () => {
			this.#sessionSince = this.#timing.monotonicNow();
			this.#work.retryAll();
		};
		onSessionOrGuild(client, isNewSession, this.#work.wake);
		// The connection counts the members as loaded after the listeners of their last chunk.
		client.on(Events.GuildMembersChunk, (_members, _guild, { index, count }) => {
			if (index === count - 1) setImmediate(this.#work.wake);
		});
	}

	start(): void {
		this.#nextStart = this.#timing.monotonicNow() + this.#timing.startDelayMs;
		this.#work.wake();
	}

	close(): Promise<void> {
		return this.#work.close(this.#timing.shutdownGraceMs);
	}
}

/** A text for people if at least half, and at least `minLost`, were lost since the previous backup. */
function lossOf(what: string, before: number, after: number): string | undefined {
	const isWiped = before - after >= minLost && after <= before / 2;
	return isWiped ? `of its ${before} ${what}, ${after} were left at the next backup` : undefined;
}

function describe(row: GuildBackupRow) {
	const { kept_at, kept_reason, proven_at } = row;
	return {
		guildId: row.guild_id,
		name: String(row.number),
		madeAt: new Date(row.made_at),
		guildName: row.guild_name,
		channels: row.channels,
		roles: row.roles,
		/** Bytes of JSON. */
		size: row.length,
		/** For people: the sections that the backup lacks, and why; "" if complete. */
		omitted: row.omitted,
		/** When it last restored everything in a rehearsal. */
		provenAt: proven_at === null ? undefined : new Date(proven_at),
		/** When and why the backup was protected from being replaced by newer ones. */
		kept: kept_at === null ? undefined : { at: new Date(kept_at), reason: kept_reason ?? "" },
	};
}

function encode(text: string): string {
	if (text.length < compressFrom) return text;
	return compressedPrefix + Buffer.from(Bun.gzipSync(new TextEncoder().encode(text))).toString("base64");
}

function decode(stored: string): string {
	if (!stored.startsWith(compressedPrefix)) return stored;
	const bytes = Buffer.from(stored.slice(compressedPrefix.length), "base64");
	return new TextDecoder().decode(Bun.gunzipSync(bytes));
}

/** Replaces what PostgreSQL cannot store in a text: NUL and lone surrogates. */
function storable(text: string): string {
	return text.toWellFormed().replaceAll("\0", "\u{fffd}");
}
