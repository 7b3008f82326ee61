// Tables of pictures of guilds: "guild_pictures" has each picture once, by its hash, and "guild_picture_sources" which
// picture an emoji or icon of Discord has, so that it is downloaded only once.

import { inBatches, many, type Sql } from "../../../lib/store/statement.ts";
import type { Store } from "../../../lib/store/store.ts";

export interface GuildPictureRow {
	/** Hash that identifies the picture: the first 32 hexadecimal digits of the SHA-256 hash of its bytes. */
	hash: string;
	/** Media type of the picture, such as "image/png". */
	media_type: string;
	/** The bytes of the picture in base64. */
	data: string;
	/** When the picture was last used, in epoch milliseconds. The stored time may be wrong by up to an hour. */
	used_at: number;
}

export const guildPicturesTables = `
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

const batchSize = 500;
const toleranceMs = 3_600_000;

/**
 * Returns the hashes of stored pictures by their sources. A source is the id of an emoji, or Discord's hash of an icon.
 * Sources whose picture is not stored are left out.
 */
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

/** Stores a picture, and that it is the picture of `source`, such as the id of an emoji. Uses one transaction. */
export function saveGuildPicture(
	store: Pick<Store, "transaction">,
	picture: GuildPictureRow,
	source: string,
): Promise<void> {
	return store.transaction(async (sql) => {
		await sql`
			INSERT INTO guild_pictures ${many([{ ...picture }])}
			ON CONFLICT (hash) DO UPDATE SET used_at = excluded.used_at`;
		await savePictureSource(sql, source, picture.hash);
	});
}

/**
 * Stores which picture (`hash`) an emoji or icon has. `source` is the id of the emoji, or Discord's hash of the icon.
 */
export async function savePictureSource(sql: Sql, source: string, hash: string): Promise<void> {
	await sql`
		INSERT INTO guild_picture_sources ${many([{ source, hash }])}
		ON CONFLICT (source) DO UPDATE SET hash = excluded.hash`;
}

export async function selectGuildPicture(sql: Sql, hash: string): Promise<GuildPictureRow | undefined> {
	const [row] = await sql<GuildPictureRow>`
		SELECT hash, media_type, data, used_at FROM guild_pictures WHERE hash = ${hash}`;
	return row;
}

/** Returns the hashes, out of the given ones, of the pictures that are stored in the database. */
export async function selectKnownPictures(sql: Sql, hashes: readonly string[]): Promise<Set<string>> {
	const known = new Set<string>();
	for (const batch of inBatches(hashes, batchSize))
		for (const { hash } of await sql<{ hash: string }>`
			SELECT hash FROM guild_pictures WHERE hash IN ${many(batch)}`)
			known.add(hash);
	return known;
}

/**
 * Stores `now` (epoch milliseconds) as the time of the last use of pictures. Skips pictures whose stored time is less
 * than an hour off.
 */
export async function touchGuildPictures(sql: Sql, hashes: readonly string[], now: number): Promise<void> {
	for (const batch of inBatches(hashes, batchSize))
		await sql`
			UPDATE guild_pictures SET used_at = ${now} WHERE hash IN ${many(batch)}
				AND (used_at < ${now - toleranceMs} OR used_at > ${now + toleranceMs})`;
}

/**
 * Deletes pictures that no backup of a guild refers to and that were last used before `before` (epoch milliseconds).
 * Returns how many pictures were deleted.
 */
export function deleteUnusedPictures(store: Pick<Store, "transaction">, before: number): Promise<number> {
	return store.transaction(async (sql) => {
		const deleted = await sql`
			DELETE FROM guild_pictures WHERE used_at < ${before}
				AND hash NOT IN (SELECT hash FROM guild_backup_pictures)
			RETURNING hash`;
		await sql`
			DELETE FROM guild_picture_sources WHERE hash NOT IN (SELECT hash FROM guild_pictures)`;
		return deleted.length;
	});
}
