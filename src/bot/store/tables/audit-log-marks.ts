// Table "audit_log_marks": for each guild and what the bot looks for, up to which entry of Discord's audit log it has
// looked, so that after a restart it finds what it missed, and finds nothing twice. `wanted`: actions by hand, which
// become cases, or mass deletions.

import type { RowOf } from "../../../lib/store/row.ts";
import { many, rowsOf, type Sql } from "../../../lib/store/statement.ts";

export const auditLogMarksTable = `
	CREATE TABLE audit_log_marks (
		guild_id TEXT NOT NULL,
		wanted TEXT NOT NULL,
		entry_id TEXT NOT NULL,
		PRIMARY KEY (guild_id, wanted)
	)`;

interface MarkRow extends RowOf<typeof auditLogMarksTable, "audit_log_marks"> {
	wanted: "cases" | "deletions";
}

/** None of a guild whose audit log the bot has not searched yet. */
export const auditLogMarkRows = rowsOf<MarkRow, "guild_id" | "wanted">("audit_log_marks", ["guild_id", "wanted"]);

/** Does nothing if the stored id is higher. */
export async function raiseMark(sql: Sql, row: MarkRow): Promise<void> {
	await sql`
		INSERT INTO audit_log_marks ${many([row])}
		ON CONFLICT (guild_id, wanted) DO UPDATE SET entry_id = excluded.entry_id
		WHERE LENGTH(excluded.entry_id) > LENGTH(audit_log_marks.entry_id)
			OR (LENGTH(excluded.entry_id) = LENGTH(audit_log_marks.entry_id)
				AND excluded.entry_id > audit_log_marks.entry_id)`;
}
