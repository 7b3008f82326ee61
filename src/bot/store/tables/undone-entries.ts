// Table "undone_entries": entries of Discord's audit log, and calls of the bot's tools, that a job of undo_actions has undone.
// Times are in epoch milliseconds.

import { inBatches, many, type Sql } from "../../../lib/store/statement.ts";

export const undoneEntriesTable = `
	CREATE TABLE undone_entries (
		entry_id TEXT NOT NULL PRIMARY KEY,
		at BIGINT NOT NULL
	)`;

export async function saveUndoneEntries(sql: Sql, ids: readonly string[], at: number): Promise<void> {
	for (const batch of inBatches(ids, 100))
		await sql`INSERT INTO undone_entries ${many(batch.map((entry_id) => ({ entry_id, at })))} ON CONFLICT DO NOTHING`;
}

/** Those of `ids` that were undone. */
export async function selectUndoneEntries(sql: Sql, ids: readonly string[]): Promise<Set<string>> {
	const found = new Set<string>();
	for (const batch of inBatches(ids, 100))
		for (const { entry_id } of await sql<{ entry_id: string }>`
			SELECT entry_id FROM undone_entries WHERE entry_id IN ${many(batch)}`)
			found.add(entry_id);
	return found;
}
