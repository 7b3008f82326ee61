// Table "guild_deletion_marks": up to which entry of Discord's audit log the deletions in a guild were looked at, so that
// after a restart the bot finds mass deletions that it missed, and reports none twice.

import type { RowOf } from "../../../lib/store/row.ts";
import { many, rowsOf, type Sql } from "../../../lib/store/statement.ts";

export const guildDeletionMarksTable = `
	CREATE TABLE guild_deletion_marks (
		guild_id TEXT NOT NULL PRIMARY KEY,
		entry_id TEXT NOT NULL
	)`;

/** None of a guild whose audit log the bot has not searched yet. */
export const deletionMarkRows = rowsOf<RowOf<typeof guildDeletionMarksTable, "guild_deletion_marks">, "guild_id">(
	"guild_deletion_marks",
	["guild_id"],
);

/** Does nothing if the stored id is higher. */
export async function saveDeletionMark(sql: Sql, guildId: string, entryId: string): Promise<void> {
	await sql`
		INSERT INTO guild_deletion_marks ${many([{ guild_id: guildId, entry_id: entryId }])}
		ON CONFLICT (guild_id) DO UPDATE SET entry_id = excluded.entry_id
		WHERE LENGTH(excluded.entry_id) > LENGTH(guild_deletion_marks.entry_id)
			OR (LENGTH(excluded.entry_id) = LENGTH(guild_deletion_marks.entry_id)
				AND excluded.entry_id > guild_deletion_marks.entry_id)`;
}
