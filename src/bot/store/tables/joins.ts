// Table "joins": by which invite members joined, as far as it can be known. Times are in epoch milliseconds.

import type { RowOf } from "../../../lib/store/row.ts";
import { firstRow, type Sql, upsert } from "../../../lib/store/statement.ts";

export const joinsTable = `
	CREATE TABLE joins (
		guild_id TEXT NOT NULL,
		user_id TEXT NOT NULL,
		joined_at BIGINT NOT NULL,
		invites TEXT NOT NULL,
		PRIMARY KEY (guild_id, user_id)
	)`;

/** `invites`: codes, separated by commas: one of them; "?" stands for any other way. */
type JoinRow = RowOf<typeof joinsTable, "joins">;

export function saveJoins(sql: Sql, rows: readonly JoinRow[]): Promise<void> {
	return upsert(sql, "joins", ["guild_id", "user_id"], rows);
}

export async function deleteJoin(
	sql: Sql,
	{ guild_id, user_id }: Pick<JoinRow, "guild_id" | "user_id">,
): Promise<void> {
	await sql`DELETE FROM joins WHERE guild_id = ${guild_id} AND user_id = ${user_id}`;
}

export function selectJoin(sql: Sql, guildId: string, userId: string): Promise<JoinRow | undefined> {
	return firstRow(sql<JoinRow>`SELECT * FROM joins WHERE guild_id = ${guildId} AND user_id = ${userId}`);
}

export function selectJoins(sql: Sql, guildId: string): Promise<JoinRow[]> {
	return sql<JoinRow>`SELECT * FROM joins WHERE guild_id = ${guildId}`;
}
