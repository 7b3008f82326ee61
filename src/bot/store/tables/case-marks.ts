// Table "case_marks": for each guild, the last entry of Discord's audit log that was searched for actions by hand,
// which become cases.

import { type Sql, upsert } from "../../../lib/store/statement.ts";

export const caseMarksTable = `
	CREATE TABLE case_marks (
		guild_id TEXT NOT NULL PRIMARY KEY,
		entry_id TEXT NOT NULL
	)`;

export async function selectCaseMark(sql: Sql, guildId: string): Promise<string | undefined> {
	const [row] = await sql<{ entry_id: string }>`SELECT entry_id FROM case_marks WHERE guild_id = ${guildId}`;
	return row?.entry_id;
}

export function saveCaseMark(sql: Sql, guild_id: string, entry_id: string): Promise<void> {
	return upsert(sql, "case_marks", ["guild_id"], [{ guild_id, entry_id }]);
}
