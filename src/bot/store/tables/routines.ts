// Table "routines": questions to AI chat that it answers at certain times, in the name of who set them. Times are in epoch
// milliseconds.

import type { RowOf } from "../../../lib/store/row.ts";
import { rowsOf } from "../../../lib/store/statement.ts";

/** `schedule`: JSON. */
export type Routine = RowOf<typeof routinesTable, "routines">;

export const routinesTable = `
	CREATE TABLE routines (
		id TEXT NOT NULL PRIMARY KEY,
		guild_id TEXT NOT NULL,
		channel_id TEXT NOT NULL,
		person_id TEXT NOT NULL,
		question TEXT NOT NULL,
		schedule TEXT NOT NULL,
		next_at BIGINT NOT NULL
	)`;

export const routineRows = rowsOf<Routine, "guild_id" | "id">("routines", ["guild_id", "id"]);
