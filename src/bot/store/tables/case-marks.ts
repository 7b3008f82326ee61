// Table "case_marks": for each guild, the last entry of Discord's audit log that was searched for actions by hand,
// which become cases.

import type { Sql } from "../../../lib/store/statement.ts";

export const caseMarksTable = `
	CREATE TABLE case_marks (
		guild_id TEXT NOT NULL PRIMARY KEY,
		entry_id TEXT NOT NULL
	)`;

export async function selectCaseMark(sql: Sql, guildId: string): Promise<string | undefined> {
	const [row] = await sql<{ entry_id: string }>`
		SELECT entry_id FROM case_marks WHERE guild_id = ${guildId}`;
	return row?.entry_id;
}

export async function saveCaseMark(sql: Sql, guildId: string, entryId: string): Promise<void> {
	await sql`
		INSERT INTO case_marks (guild_id, entry_id) VALUES (${guildId}, ${entryId})
		ON CONFLICT (guild_id) DO UPDATE SET entry_id = excluded.entry_id`;
}
