// Table "temp_bans": temporary bans, one row per person and guild. A row exists from before the request to Discord until
// nothing is left to do. Times are in epoch milliseconds.

import type { RowOf } from "../../../lib/store/row.ts";
import { rowsOf, type Sql } from "../../../lib/store/statement.ts";

export interface TempBan extends RowOf<typeof tempBansTable, "temp_bans"> {
	state: "asked" | "banned";
	/** Start of the reason on Discord, which tells this ban from others; null if it has none. */
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

export const tempBanRows = rowsOf<TempBan, keyof TempBanKey>("temp_bans", ["guild_id", "user_id"]);

export type TempBanKey = Pick<TempBan, "guild_id" | "user_id">;

/** Bans that ended at `now`, those not confirmed by Discord, and the next to end. */
export function selectDue(sql: Sql, now: number): Promise<TempBan[]> {
	return sql<TempBan>`
		SELECT * FROM temp_bans
		WHERE state = ${"asked"} OR ends_at <= ${now}
			OR ends_at = (SELECT MIN(ends_at) FROM temp_bans WHERE ends_at > ${now})
		ORDER BY ends_at`;
}

export async function selectTempBansOf(
	sql: Sql,
	guildId: string,
	{ limit, offset }: { limit: number; offset: number },
): Promise<{ rows: TempBan[]; total: number }> {
	const rows = await sql<TempBan>`
		SELECT * FROM temp_bans WHERE guild_id = ${guildId} ORDER BY ends_at, user_id LIMIT ${limit} OFFSET ${offset}`;
	return { rows, total: await tempBanRows.count(sql, { guild_id: guildId }) };
}
