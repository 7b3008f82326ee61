// Tables of pictures of guilds: "guild_pictures" has each picture once, by its hash, and "guild_picture_sources" which
// picture an emoji or icon of Discord has, so that it is downloaded only once. Times are in epoch milliseconds.

import type { RowOf } from "../../../lib/store/row.ts";
import { inBatches, many, rowsOf, type Sql } from "../../../lib/store/statement.ts";
import type { Store } from "../../../lib/store/store.ts";

type PictureSource = RowOf<typeof guildPicturesTables, "guild_picture_sources">;

interface GuildPictureRow {
	/** First 32 hexadecimal digits of the SHA-256 hash. */
	hash: string;
	media_type: string;
	/** Base64. */
	data: string;
	/** Epoch milliseconds, wrong by up to an hour. */
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

export const pictureRows = rowsOf<GuildPictureRow, "hash">("guild_pictures", ["hash"]);

/** A source is the id of an emoji, or Discord's hash of an icon. */
export const pictureSourceRows = rowsOf<PictureSource, "source">("guild_picture_sources", ["source"]);

const batchSize = 500;
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
