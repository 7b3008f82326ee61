// Tables of backups: "guild_backups" with the documents, "guild_backup_pictures" with the pictures they refer to, and
// "guild_backup_checks" with when each guild was last compared with its latest backup. "guild_pictures" has each picture once, by
// its hash, and "guild_picture_sources" which picture an emoji or icon of Discord has, so that it is downloaded only once. Times
// are in epoch milliseconds.

import type { RowOf } from "../../../lib/store/row.ts";
import { firstRow, inBatches, many, rowsOf, type Sql, upsert } from "../../../lib/store/statement.ts";
import type { Store } from "../../../lib/store/store.ts";

export const guildBackupTables = `
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
		proven_at BIGINT,
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
	);
	CREATE TABLE guild_pictures (
		hash TEXT NOT NULL PRIMARY KEY,
		media_type TEXT NOT NULL,
		data TEXT NOT NULL,
		used_at BIGINT NOT NULL
	);
	CREATE TABLE guild_picture_sources (
		source TEXT NOT NULL PRIMARY KEY,
		hash TEXT NOT NULL
	);
	CREATE INDEX guild_picture_sources_hash ON guild_picture_sources (hash)`;

/** Without the guild document. */
export interface GuildBackupRow extends Omit<RowOf<typeof guildBackupTables, "guild_backups">, "document"> {
	/** 1, 2, 3 … in each guild: later is higher even if the clock was set back. */
	number: number;
	/** Bytes of the document as JSON text. */
	length: number;
	/** Of the document as JSON text, hexadecimal. */
	sha256: string;
	/** With categories. Far fewer in the next backup: the guild may have been wiped. */
	channels: number;
	/** For people: which sections could not be read, and why. Empty if complete. */
	omitted: string;
	/** Null if newer backups may replace it. */
	kept_at: number | null;
	proven_at: number | null;
}

export interface NewGuildBackup
	extends Pick<
		GuildBackupRow,
		"guild_id" | "made_at" | "guild_name" | "length" | "sha256" | "channels" | "roles" | "omitted"
	> {
	/** JSON text, or compressed JSON text. */
	document: string;
	pictures: readonly string[];
}

const batchSize = 500;

type GuildBackupKey = Pick<GuildBackupRow, "guild_id" | "number">;

interface SaveOptions {
	/** Number of unprotected backups kept for each guild, and also of protected ones. */
	keep: number;
	/** Why to protect the previous backup, such as a loss of many channels; undefined if not needed. */
	keepReason(previous: Pick<GuildBackupRow, "channels" | "roles">): string | undefined;
}

/** "unchanged": not stored, because the latest backup has the same document. */
type SavedBackup = { outcome: "unchanged" } | { outcome: "made"; number: number; kept?: string | undefined };

/** In one transaction, which also deletes the oldest backups. */
export function saveGuildBackup(
	store: Pick<Store, "transaction">,
	backup: NewGuildBackup,
	{ keep, keepReason }: SaveOptions,
): Promise<SavedBackup> {
	const { pictures, ...row } = backup;
	const { guild_id, made_at } = row;
	return store.transaction(async (sql) => {
		await upsert(sql, "guild_backup_checks", ["guild_id"], [{ guild_id, checked_at: made_at }]);
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
		await sql`INSERT INTO guild_backups ${many([{ ...row, number }])}`;
		for (const batch of inBatches(pictures, batchSize))
			await sql`INSERT INTO guild_backup_pictures ${many(batch.map((hash) => ({ guild_id, number, hash })))}`;
		await rotate(sql, guild_id, keep);
		return { outcome: "made", number, kept };
	});
}

async function rotate(sql: Sql, guildId: string, keep: number): Promise<void> {
	const rows = await sql<Pick<GuildBackupRow, "number" | "kept_at" | "proven_at">>`
		SELECT number, kept_at, proven_at FROM guild_backups WHERE guild_id = ${guildId} ORDER BY number DESC`;
	// That of the last proof stays, and with it the date.
	const [last] = rows.filter(({ proven_at }) => proven_at).sort((a, b) => Number(b.proven_at) - Number(a.proven_at));
	const rotated = rows.filter(({ kept_at }) => kept_at === null).slice(keep);
	const kept = rows.filter(({ kept_at }) => kept_at !== null).slice(keep);
	const numbers = [...rotated, ...kept].flatMap((row) => (row === last ? [] : row.number));
	for (const batch of inBatches(numbers, batchSize)) {
		await sql`DELETE FROM guild_backups WHERE guild_id = ${guildId} AND number IN ${many(batch)}`;
		await sql`DELETE FROM guild_backup_pictures WHERE guild_id = ${guildId} AND number IN ${many(batch)}`;
	}
}

/** Time of the last comparison by guild id. */
export async function selectBackupChecks(sql: Sql): Promise<Map<string, number>> {
	const rows = await sql<{ guild_id: string; checked_at: number }>`
		SELECT guild_id, checked_at FROM guild_backup_checks`;
	return new Map(rows.map(({ guild_id, checked_at }) => [guild_id, checked_at]));
}

/** Newest first. */
export function selectGuildBackups(sql: Sql, guildId: string): Promise<GuildBackupRow[]> {
	return sql<GuildBackupRow>`
		SELECT guild_id, number, made_at, guild_name, length, sha256, channels, roles, omitted, kept_at, kept_reason, proven_at
		FROM guild_backups WHERE guild_id = ${guildId} ORDER BY number DESC`;
}

/** When a backup of each guild was last proven. */
export const selectLastProofs = (sql: Sql) => sql<Pick<GuildBackupRow, "guild_id" | "proven_at">>`
		SELECT guild_id, MAX(proven_at) AS proven_at FROM guild_backups GROUP BY guild_id`;

/** The latest if `number` is undefined. */
export function selectGuildBackup(
	sql: Sql,
	guildId: string,
	number: number | undefined,
): Promise<(GuildBackupRow & { document: string }) | undefined> {
	return firstRow(sql<GuildBackupRow & { document: string }>`
		SELECT * FROM guild_backups
		WHERE guild_id = ${guildId} AND number <= ${number ?? maxNumber} AND number >= ${number ?? 0}
		ORDER BY number DESC LIMIT 1`);
}

const maxNumber = 2 ** 31 - 1;

export async function keepGuildBackup(
	sql: Sql,
	{ guild_id, number }: GuildBackupKey,
	{ at, reason }: { at: number; reason: string },
): Promise<void> {
	await sql`
		UPDATE guild_backups SET kept_at = COALESCE(kept_at, ${at}), kept_reason = ${reason}
		WHERE guild_id = ${guild_id} AND number = ${number}`;
}

export async function proveGuildBackup(sql: Sql, { guild_id, number }: GuildBackupKey, at: number): Promise<void> {
	await sql`UPDATE guild_backups SET proven_at = ${at} WHERE guild_id = ${guild_id} AND number = ${number}`;
}

type PictureSource = RowOf<typeof guildBackupTables, "guild_picture_sources">;

interface GuildPictureRow {
	/** First 32 hexadecimal digits of the SHA-256 hash. */
	hash: string;
	media_type: string;
	/** Base64. */
	data: string;
	/** Epoch milliseconds, wrong by up to an hour. */
	used_at: number;
}

export const pictureRows = rowsOf<GuildPictureRow, "hash">("guild_pictures", ["hash"]);

/** A source is the id of an emoji, or Discord's hash of an icon. */
export const pictureSourceRows = rowsOf<PictureSource, "source">("guild_picture_sources", ["source"]);

const toleranceMs = 3_600_000;

export async function selectPictureHashes(sql: Sql, sources: readonly string[]): Promise<Map<string, string>> {
	const hashes = new Map<string, string>();
	for (const batch of inBatches(sources, batchSize)) {
		const rows = await sql<{ source: string; hash: string }>`
			SELECT s.source, s.hash FROM guild_picture_sources s
			JOIN guild_pictures p ON p.hash = s.hash WHERE s.source IN ${many(batch)}`;
		for (const { source, hash } of rows) hashes.set(source, hash);
	}
	return hashes;
}

export function saveGuildPicture(
	store: Pick<Store, "transaction">,
	picture: GuildPictureRow,
	source: string,
): Promise<void> {
	return store.transaction(async (sql) => {
		await sql`
			INSERT INTO guild_pictures ${many([picture])} ON CONFLICT (hash) DO UPDATE SET used_at = excluded.used_at`;
		await pictureSourceRows.save(sql, [{ source, hash: picture.hash }]);
	});
}

export async function selectKnownPictures(sql: Sql, hashes: readonly string[]): Promise<Set<string>> {
	const known = new Set<string>();
	for (const batch of inBatches(hashes, batchSize))
		for (const { hash } of await sql<{ hash: string }>`SELECT hash FROM guild_pictures WHERE hash IN ${many(batch)}`)
			known.add(hash);
	return known;
}

/** Epoch milliseconds. Skips pictures whose stored time is less than an hour off. */
export async function touchGuildPictures(sql: Sql, hashes: readonly string[], now: number): Promise<void> {
	for (const batch of inBatches(hashes, batchSize))
		await sql`
			UPDATE guild_pictures SET used_at = ${now} WHERE hash IN ${many(batch)}
				AND (used_at < ${now - toleranceMs} OR used_at > ${now + toleranceMs})`;
}
