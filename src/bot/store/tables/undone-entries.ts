// Table "undone_entries": entries of Discord's audit log, and calls of the bot's tools, that a job of undo_actions has undone.
// Times are in epoch milliseconds.

import type { RowOf } from "../../../lib/store/row.ts";
import { inBatches, rowsOf, type Sql } from "../../../lib/store/statement.ts";

export const undoneEntriesTable = `
	CREATE TABLE undone_entries (
		entry_id TEXT NOT NULL PRIMARY KEY,
		at BIGINT NOT NULL
	)`;

export const undoneEntryRows = rowsOf<RowOf<typeof undoneEntriesTable, "undone_entries">, "entry_id">(
	"undone_entries",
	["entry_id"],
);

/** Those of `ids` that were undone. */
export async function selectUndoneEntries(sql: Sql, ids: readonly string[]): Promise<Set<string>> {
	const found = new Set<string>();
	for (const batch of inBatches(ids, 100))
		for (const { entry_id } of await undoneEntryRows.all(sql, { entry_id: batch })) found.add(entry_id);
	return found;
}
