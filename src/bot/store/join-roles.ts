// The tables of the role that everyone gets who joins: until when all who joined were looked after, and to whom of them it
// is still owed.

import type { Migration } from "./migrations.ts";
import { many, type Sql } from "./statement.ts";
import type { Store } from "./store.ts";

/** Somebody who joined and has yet to be given the role. */
export interface OwedRow {
	user_id: string;
	/** Epoch milliseconds, as Discord says. */
	joined_at: number;
}

/** What is known of a guild. */
export interface JoinRoleNotes {
	/** Who joined until then was given the role, or is owed it; undefined before the first note. Epoch milliseconds. */
	joinedUntil: number | undefined;
	/** Oldest first. */
	owed: readonly OwedRow[];
}

export const joinRolesTables: Migration = {
	number: 5,
	name: "join roles",
	text: `
		CREATE TABLE join_role_marks (
			guild_id TEXT NOT NULL PRIMARY KEY,
			joined_until BIGINT NOT NULL
		);
		CREATE TABLE join_roles_owed (
			guild_id TEXT NOT NULL,
			user_id TEXT NOT NULL,
			joined_at BIGINT NOT NULL,
			PRIMARY KEY (guild_id, user_id)
		)`,
};

/** How many rows go into one statement. */
const rowsAtOnce = 1_000;

export async function selectJoinRoleNotes(
	sql: Sql,
	guildId: string,
): Promise<JoinRoleNotes> {
	const [mark] = await sql<{ joined_until: number }>`
		SELECT joined_until FROM join_role_marks WHERE guild_id = ${guildId}`;
	const owed = await sql<OwedRow>`
		SELECT user_id, joined_at FROM join_roles_owed WHERE guild_id = ${guildId} ORDER BY joined_at, user_id`;
	return { joinedUntil: mark?.joined_until, owed };
}

/** What has changed since the last note, all of it or nothing. */
export function saveJoinRoleNotes(
	store: Pick<Store, "transaction">,
	guildId: string,
	changes: {
		joinedUntil: number;
		/** To whom it is owed now, and was not. */
		owed: readonly OwedRow[];
		/** To whom it is not owed any more. */
		settled: readonly string[];
	},
): Promise<void> {
	return store.transaction(async (sql) => {
		for (const rows of inPortions(changes.owed))
			await sql`
				INSERT INTO join_roles_owed ${many(rows.map((row) => ({ guild_id: guildId, ...row })))}
				ON CONFLICT (guild_id, user_id) DO UPDATE SET joined_at = excluded.joined_at`;
		for (const ids of inPortions(changes.settled))
			await sql`DELETE FROM join_roles_owed WHERE guild_id = ${guildId} AND user_id IN ${many(ids)}`;
		await sql`
			INSERT INTO join_role_marks (guild_id, joined_until) VALUES (${guildId}, ${changes.joinedUntil})
			ON CONFLICT (guild_id) DO UPDATE SET joined_until = excluded.joined_until`;
	});
}

function* inPortions<T>(items: readonly T[]): Iterable<T[]> {
	for (let at = 0; at < items.length; at += rowsAtOnce)
		yield items.slice(at, at + rowsAtOnce);
}
