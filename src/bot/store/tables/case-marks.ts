// Table "case_marks": for each guild, the last entry of Discord's audit log that was searched for actions by hand,
// which become cases.

import type { RowOf } from "../../../lib/store/row.ts";
import { rowsOf } from "../../../lib/store/statement.ts";

export const caseMarksTable = `
	CREATE TABLE case_marks (
		guild_id TEXT NOT NULL PRIMARY KEY,
		entry_id TEXT NOT NULL
	)`;

export const caseMarkRows = rowsOf<RowOf<typeof caseMarksTable, "case_marks">, "guild_id">("case_marks", ["guild_id"]);
