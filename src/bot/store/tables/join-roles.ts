// Tables of the role for new members: "join_role_marks" holds until which join time everyone was handled, and
// "join_roles_owed" who of them still has to get the role. Times are in epoch milliseconds.

import { inBatches, many, type Sql, upsert } from "../../../lib/store/statement.ts";
import type { Store } from "../../../lib/store/store.ts";

interface OwedRow {
	user_id: string;
	/** As reported by Discord. */
	joined_at: number;
}

interface JoinRoleNotes {
	/** Epoch milliseconds: who joined until then has the role or is stored as waiting. */
	joinedUntil: number | undefined;
	owed: readonly OwedRow[];
}

export const joinRolesTables = `
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

const batchSize = 1_000;

export async function selectJoinRoleNotes(sql: Sql, guildId: string): Promise<JoinRoleNotes> {
	const [mark] = await sql<{ joined_until: number }>`
		SELECT joined_until FROM join_role_marks WHERE guild_id = ${guildId}`;
	const owed = await sql<OwedRow>`
		SELECT user_id, joined_at FROM join_roles_owed WHERE guild_id = ${guildId} ORDER BY joined_at, user_id`;
	return { joinedUntil: mark?.joined_until, owed };
}

/** Saves what changed since the last save, in one transaction. */
export function saveJoinRoleNotes(
	store: Pick<Store, "transaction">,
	guildId: string,
	changes: { joinedUntil: number; owed: readonly OwedRow[]; settled: readonly string[] },
): Promise<void> {
	return store.transaction(async (sql) => {
		const owed = changes.owed.map((row) => ({ guild_id: guildId, ...row }));
		await upsert(sql, "join_roles_owed", ["guild_id", "user_id"], owed);
		for (const ids of inBatches(changes.settled, batchSize))
			await sql`DELETE FROM join_roles_owed WHERE guild_id = ${guildId} AND user_id IN ${many(ids)}`;
		const mark = { guild_id: guildId, joined_until: changes.joinedUntil };
		await upsert(sql, "join_role_marks", ["guild_id"], [mark]);
	});
}

/** What was noted while the role was switched on before. */
export function deleteJoinRoleNotes(store: Pick<Store, "transaction">, guildId: string): Promise<void> {
	return store.transaction(async (sql) => {
		await sql`DELETE FROM join_roles_owed WHERE guild_id = ${guildId}`;
		await sql`DELETE FROM join_role_marks WHERE guild_id = ${guildId}`;
	});
}
