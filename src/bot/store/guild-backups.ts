// Tables of backups: "guild_backups" with the documents, "guild_backup_pictures" with the pictures they refer to, and
// "guild_backup_checks" with when each guild was last compared with its latest backup.

import type { Migration } from "./database/migrations.ts";
import { inBatches, many, type Sql } from "./database/statement.ts";
import type { Store } from "./store.ts";

/** A backup without its document. */
export interface GuildBackupRow {
	guild_id: string;
	/** Number of the backup within its guild: 1, 2, 3 … A later backup has a higher number, whatever the clock said. */
	number: number;
	/** In epoch milliseconds. */
	made_at: number;
	/** Name of the guild when the backup was made. */
	guild_name: string;
	/** Length of the document's JSON text in characters. */
	length: number;
	/** SHA-256 of the document's JSON text, in hexadecimal digits. */
	sha256: string;
	/** Number of channels with categories, to recognize a guild that was wiped. */
	channels: number;
	/** Number of roles. */
	roles: number;
	/** Parts that the bot could not read, and why, as a text for people; "" if it read all. */
	omitted: string;
	/** Since when the backup is kept for good, in epoch milliseconds; null if it is rotated. */
	kept_at: number | null;
	/** Why the backup is kept for good; null if it is rotated. */
	kept_reason: string | null;
	/** 1 if the people of the guild have yet to be told that and why the backup is kept. */
	notice_due: 0 | 1;
}

export interface NewGuildBackup
	extends Pick<
		GuildBackupRow,
		| "guild_id"
		| "made_at"
		| "guild_name"
		| "length"
		| "sha256"
		| "channels"
		| "roles"
		| "omitted"
	> {
	/** The document as it is stored. */
	document: string;
	/** Hashes of the pictures that the document refers to. */
	pictures: readonly string[];
}

export const guildBackupsTables: Migration = {
	number: 11,
	name: "backups of guilds",
	text: `
		CREATE TABLE guild_backups (
			guild_id TEXT NOT NULL,
			number INTEGER NOT NULL,
			made_at BIGINT NOT NULL,
			guild_name TEXT NOT NULL,
			length INTEGER NOT NULL,
			sha256 TEXT NOT NULL,
			channels INTEGER NOT NULL,
			roles INTEGER NOT NULL,
			omitted TEXT NOT NULL,
			kept_at BIGINT,
			kept_reason TEXT,
			notice_due INTEGER NOT NULL,
			document TEXT NOT NULL,
			PRIMARY KEY (guild_id, number)
		);
		CREATE TABLE guild_backup_pictures (
			guild_id TEXT NOT NULL,
			number INTEGER NOT NULL,
			hash TEXT NOT NULL,
			PRIMARY KEY (guild_id, number, hash)
		);
		CREATE INDEX guild_backup_pictures_hash ON guild_backup_pictures (hash);
		CREATE TABLE guild_backup_checks (
			guild_id TEXT NOT NULL PRIMARY KEY,
			checked_at BIGINT NOT NULL
		)`,
};

/** Maximum number of rows in one SQL statement. */
const batchSize = 500;

export type GuildBackupKey = Pick<GuildBackupRow, "guild_id" | "number">;

export interface SaveOptions {
	/** Number of backups of the guild that are kept, beside those kept for good. */
	keep: number;
	/**
	 * Returns why the previous backup must be kept for good now that the new one replaces it; undefined if it need not.
	 */
	keepReason(
		previous: Pick<GuildBackupRow, "channels" | "roles">,
	): string | undefined;
}

/** What became of a backup. "unchanged": the latest one has the same document, and the new one was not stored. */
export type SavedBackup =
	| { outcome: "unchanged" }
	| { outcome: "made"; number: number; kept?: string | undefined };

/**
 * Stores a backup unless the latest one of the guild has the same document, that the guild was compared, and deletes
 * the oldest backups of the guild beyond `keep`. All in one transaction.
 */
export function saveGuildBackup(
	store: Pick<Store, "transaction">,
	backup: NewGuildBackup,
	{ keep, keepReason }: SaveOptions,
): Promise<SavedBackup> {
	const { pictures, ...row } = backup;
	const { guild_id, made_at } = row;
	return store.transaction(async (sql) => {
		await sql`
			INSERT INTO guild_backup_checks ${many([{ guild_id, checked_at: made_at }])}
			ON CONFLICT (guild_id) DO UPDATE SET checked_at = excluded.checked_at`;
		const [latest] = await sql<GuildBackupRow>`
			SELECT number, sha256, channels, roles FROM guild_backups
			WHERE guild_id = ${guild_id} ORDER BY number DESC LIMIT 1`;
		if (latest?.sha256 === row.sha256) return { outcome: "unchanged" };
		const number = (latest?.number ?? 0) + 1;
		const kept = latest && keepReason(latest);
		if (latest && kept !== undefined)
			await sql`
				UPDATE guild_backups SET kept_at = ${made_at}, kept_reason = ${kept}
				WHERE guild_id = ${guild_id} AND number = ${latest.number} AND kept_at IS NULL`;
		await sql`INSERT INTO guild_backups ${many([{ ...row, number, notice_due: 0 }])}`;
		for (const batch of inBatches(pictures, batchSize))
			await sql`
				INSERT INTO guild_backup_pictures ${many(batch.map((hash) => ({ guild_id, number, hash })))}`;
		await rotate(sql, guild_id, keep);
		return { outcome: "made", number, kept };
	});
}

/** Deletes all but the newest `keep` backups of a guild, and all but the newest `keep` of those kept for good. */
async function rotate(sql: Sql, guildId: string, keep: number): Promise<void> {
	const rows = await sql<Pick<GuildBackupRow, "number" | "kept_at">>`
		SELECT number, kept_at FROM guild_backups WHERE guild_id = ${guildId} ORDER BY number DESC`;
	const rotated = rows.filter(({ kept_at }) => kept_at === null).slice(keep);
	const kept = rows.filter(({ kept_at }) => kept_at !== null).slice(keep);
	const numbers = [...rotated, ...kept].map(({ number }) => number);
	for (const batch of inBatches(numbers, batchSize)) {
		await sql`
			DELETE FROM guild_backups WHERE guild_id = ${guildId} AND number IN ${many(batch)}`;
		await sql`
			DELETE FROM guild_backup_pictures WHERE guild_id = ${guildId} AND number IN ${many(batch)}`;
	}
}

/** Returns when each guild was last compared with its latest backup, in epoch milliseconds, by guild id. */
export async function selectBackupChecks(
	sql: Sql,
): Promise<Map<string, number>> {
	const rows = await sql<{ guild_id: string; checked_at: number }>`
		SELECT guild_id, checked_at FROM guild_backup_checks`;
	return new Map(
		rows.map(({ guild_id, checked_at }) => [guild_id, checked_at]),
	);
}

/** Returns the backups of a guild, the newest first. */
export function selectGuildBackups(
	sql: Sql,
	guildId: string,
): Promise<GuildBackupRow[]> {
	return sql<GuildBackupRow>`
		SELECT guild_id, number, made_at, guild_name, length, sha256, channels, roles, omitted, kept_at, kept_reason,
			notice_due
		FROM guild_backups WHERE guild_id = ${guildId} ORDER BY number DESC`;
}

/** Returns a backup of a guild with its document as it is stored; the latest one if `number` is undefined. */
export async function selectGuildBackup(
	sql: Sql,
	guildId: string,
	number: number | undefined,
): Promise<(GuildBackupRow & { document: string }) | undefined> {
	const [row] = await sql<GuildBackupRow & { document: string }>`
		SELECT * FROM guild_backups
		WHERE guild_id = ${guildId} AND number <= ${number ?? maxNumber} AND number >= ${number ?? 0}
		ORDER BY number DESC LIMIT 1`;
	return row;
}

const maxNumber = 2 ** 31 - 1;

/** Keeps a backup for good, and records why. `notice`: people have yet to be told. */
export async function keepGuildBackup(
	sql: Sql,
	{ guild_id, number }: GuildBackupKey,
	{ at, reason, notice }: { at: number; reason: string; notice: boolean },
): Promise<void> {
	await sql`
		UPDATE guild_backups SET kept_at = COALESCE(kept_at, ${at}), kept_reason = ${reason}, notice_due = ${notice ? 1 : 0}
		WHERE guild_id = ${guild_id} AND number = ${number}`;
}

/** Returns the backups that are kept for good and of which nobody was told yet. */
export function selectDueNotices(sql: Sql): Promise<GuildBackupRow[]> {
	return sql<GuildBackupRow>`
		SELECT guild_id, number, made_at, guild_name, length, sha256, channels, roles, omitted, kept_at, kept_reason,
			notice_due
		FROM guild_backups WHERE notice_due = ${1} ORDER BY kept_at, guild_id, number`;
}

/** Records that people were told of a backup that is kept for good. */
export async function setNoticed(
	sql: Sql,
	{ guild_id, number }: GuildBackupKey,
): Promise<void> {
	await sql`
		UPDATE guild_backups SET notice_due = ${0} WHERE guild_id = ${guild_id} AND number = ${number}`;
}
