// Tables of members who joined. "joins": by which invite, as far as it can be known. "join_role_marks": until which join time
// everyone was handled for the role of new members, and "join_roles_owed" who of them still has to get it. Times are in epoch
// milliseconds.

import type { RowOf } from "../../../lib/store/row.ts";
import { inBatches, rowsOf, type Sql } from "../../../lib/store/statement.ts";
import type { Store } from "../../../lib/store/store.ts";

export const joinTables = `
	CREATE TABLE joins (
		guild_id TEXT NOT NULL,
		user_id TEXT NOT NULL,
		joined_at BIGINT NOT NULL,
		invites TEXT NOT NULL,
		PRIMARY KEY (guild_id, user_id)
	);
	CREATE TABLE join_role_marks (
		guild_id TEXT NOT NULL PRIMARY KEY,
		joined_until BIGINT NOT NULL
	);
	CREATE TABLE join_roles_owed (
		guild_id TEXT NOT NULL,
		user_id TEXT NOT NULL,
		joined_at BIGINT NOT NULL,
		PRIMARY KEY (guild_id, user_id)
	)`;

export const joinRows = rowsOf<JoinRow, "guild_id" | "user_id">("joins", ["guild_id", "user_id"]);

/** `invites`: codes, separated by commas: one of them; "?" stands for any other way. */
type JoinRow = RowOf<typeof joinTables, "joins">;

/** `joined_at`: as reported by Discord. */
type OwedRow = RowOf<typeof joinTables, "join_roles_owed">;

interface JoinRoleNotes {
	/** Epoch milliseconds: who joined until then has the role or is stored as waiting. */
	joinedUntil: number | undefined;
	owed: readonly Omit<OwedRow, "guild_id">[];
}

const markRows = rowsOf<RowOf<typeof joinTables, "join_role_marks">, "guild_id">("join_role_marks", ["guild_id"]);

const owedRows = rowsOf<OwedRow, "guild_id" | "user_id">("join_roles_owed", ["guild_id", "user_id"]);

const batchSize = 1_000;

export async function selectJoinRoleNotes(sql: Sql, guild_id: string): Promise<JoinRoleNotes> {
	const mark = await markRows.first(sql, { guild_id });
	return { joinedUntil: mark?.joined_until, owed: await owedRows.all(sql, { guild_id }, "joined_at, user_id") };
}

/** Saves what changed since the last save, in one transaction. */
export function saveJoinRoleNotes(
	store: Pick<Store, "transaction">,
	guild_id: string,
	{ joinedUntil, owed, settled }: Required<JoinRoleNotes> & { joinedUntil: number; settled: readonly string[] },
): Promise<void> {
	return store.transaction(async (sql) => {
		await owedRows.save(
			sql,
			owed.map((row) => ({ ...row, guild_id })),
		);
		for (const user_id of inBatches(settled, batchSize)) await owedRows.deleteAll(sql, { guild_id, user_id });
		await markRows.save(sql, [{ guild_id, joined_until: joinedUntil }]);
	});
}

/** What was noted while the role was switched on before. */
export function deleteJoinRoleNotes(store: Pick<Store, "transaction">, guild_id: string): Promise<void> {
	return store.transaction(async (sql) => {
		await owedRows.deleteAll(sql, { guild_id });
		await markRows.deleteAll(sql, { guild_id });
	});
}
