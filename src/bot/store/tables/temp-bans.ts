// Table "temp_bans": temporary bans, one row per person and guild. A row exists from before the request to Discord until
// nothing is left to do.

import { many, type Sql } from "../../../lib/store/statement.ts";

export interface TempBan {
	guild_id: string;
	user_id: string;
	moderator_id: string;
	/** The moderator's reason for the ban; null if there is none. */
	reason: string | null;
	/** When the moderator requested the ban, in epoch milliseconds. */
	asked_at: number;
	/** When the ban ends, in epoch milliseconds. */
	ends_at: number;
	/** State of a temporary ban: "asked" until Discord has confirmed the ban, then "banned". */
	state: "asked" | "banned";
	/**
	 * Start of the ban's reason on Discord, which distinguishes this ban from other bans of the user; null if the ban has
	 * no reason on Discord.
	 */
	mark: string | null;
}

export const tempBansTable = `
	CREATE TABLE temp_bans (
		guild_id TEXT NOT NULL,
		user_id TEXT NOT NULL,
		moderator_id TEXT NOT NULL,
		reason TEXT,
		asked_at BIGINT NOT NULL,
		ends_at BIGINT NOT NULL,
		state TEXT NOT NULL,
		mark TEXT,
		PRIMARY KEY (guild_id, user_id)
	);
	CREATE INDEX temp_bans_by_end ON temp_bans (ends_at)`;

/** Stores a temporary ban. Replaces an earlier temporary ban of the same user in the guild. */
export async function saveTempBan(sql: Sql, ban: TempBan): Promise<void> {
	await sql`
		INSERT INTO temp_bans ${many([{ ...ban }])}
		ON CONFLICT (guild_id, user_id) DO UPDATE SET
			moderator_id = excluded.moderator_id, reason = excluded.reason, asked_at = excluded.asked_at,
			ends_at = excluded.ends_at, state = excluded.state, mark = excluded.mark`;
}

export type TempBanKey = Pick<TempBan, "guild_id" | "user_id">;

export async function selectTempBan(sql: Sql, { guild_id, user_id }: TempBanKey): Promise<TempBan | undefined> {
	const [row] = await sql<TempBan>`
		SELECT * FROM temp_bans WHERE guild_id = ${guild_id} AND user_id = ${user_id}`;
	return row;
}

/** Records that Discord has confirmed a temporary ban. */
export async function setBanned(sql: Sql, { guild_id, user_id }: TempBanKey): Promise<void> {
	await sql`
		UPDATE temp_bans SET state = ${"banned"}
		WHERE guild_id = ${guild_id} AND user_id = ${user_id}`;
}

/** Deletes a temporary ban from the bot's database, but not on Discord. Returns whether the ban was stored. */
export async function deleteTempBan(sql: Sql, { guild_id, user_id }: TempBanKey): Promise<boolean> {
	const rows = await sql`
		DELETE FROM temp_bans WHERE guild_id = ${guild_id} AND user_id = ${user_id}
		RETURNING user_id`;
	return rows.length > 0;
}

/**
 * Returns the temporary bans that have ended at `now` (epoch milliseconds), those that Discord has not confirmed yet, and
 * the next to end.
 */
export function selectDue(
	sql: Sql,
	now: number,
): Promise<Pick<TempBan, "guild_id" | "user_id" | "ends_at" | "state">[]> {
	return sql<TempBan>`
		SELECT guild_id, user_id, ends_at, state FROM temp_bans
		WHERE state = ${"asked"} OR ends_at <= ${now}
			OR ends_at = (SELECT MIN(ends_at) FROM temp_bans WHERE ends_at > ${now})
		ORDER BY ends_at`;
}

export function selectAllTempBans(sql: Sql): Promise<TempBanKey[]> {
	return sql<TempBanKey>`SELECT guild_id, user_id FROM temp_bans ORDER BY ends_at`;
}

/**
 * Returns one page of a guild's temporary bans, ordered by their end, and the total number of the guild's temporary
 * bans.
 */
export async function selectTempBansOf(
	sql: Sql,
	guildId: string,
	{ limit, offset }: { limit: number; offset: number },
): Promise<{ rows: TempBan[]; total: number }> {
	const rows = await sql<TempBan>`
		SELECT * FROM temp_bans WHERE guild_id = ${guildId}
		ORDER BY ends_at, user_id LIMIT ${limit} OFFSET ${offset}`;
	const [count] = await sql<{ total: number }>`
		SELECT COUNT(*) AS total FROM temp_bans WHERE guild_id = ${guildId}`;
	return { rows, total: count?.total ?? 0 };
}
