// Table "joins": by which invite members joined, as far as it can be known. Times are in epoch milliseconds.

import type { RowOf } from "../../../lib/store/row.ts";
import { rowsOf } from "../../../lib/store/statement.ts";

export const joinsTable = `
	CREATE TABLE joins (
		guild_id TEXT NOT NULL,
		user_id TEXT NOT NULL,
		joined_at BIGINT NOT NULL,
		invites TEXT NOT NULL,
		PRIMARY KEY (guild_id, user_id)
	)`;

export const joinRows = rowsOf<JoinRow, "guild_id" | "user_id">("joins", ["guild_id", "user_id"]);

/** `invites`: codes, separated by commas: one of them; "?" stands for any other way. */
type JoinRow = RowOf<typeof joinsTable, "joins">;
