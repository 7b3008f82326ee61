// Table "channel_locks": the permission overwrites that locking a channel changed, so that unlocking can restore them.

import type { Migration } from "./database/migrations.ts";
import { many, type Sql } from "./database/statement.ts";

/** What a lock changed in one permission overwrite. Permissions are bit sets in decimal. */
export interface ChannelLockRow {
	channel_id: string;
	/** Id of the role or member. */
	target_id: string;
	/** Discord's overwrite type: 0 role, 1 member. */
	target_type: 0 | 1;
	/** Epoch milliseconds. */
	locked_at: number;
	/** Permissions that the lock allows. None was denied before. */
	allows: string;
	/** Permissions that the lock denies. None was denied before. */
	denies: string;
	/** Permissions in `allows` and `denies` that were allowed before the lock. */
	allowed: string;
	/** 1 if the overwrite existed before the lock, even an empty one. */
	existed: 0 | 1;
}

export const channelLocksTable: Migration = {
	number: 4,
	name: "channel locks",
	text: `
		CREATE TABLE channel_locks (
			channel_id TEXT NOT NULL,
			target_id TEXT NOT NULL,
			target_type INTEGER NOT NULL,
			locked_at BIGINT NOT NULL,
			allows TEXT NOT NULL,
			denies TEXT NOT NULL,
			allowed TEXT NOT NULL,
			existed INTEGER NOT NULL,
			PRIMARY KEY (channel_id, target_id)
		)`,
};

/** Inserts all rows of a lock, or none. */
export async function insertChannelLock(
	sql: Sql,
	rows: readonly ChannelLockRow[],
): Promise<void> {
	await sql`INSERT INTO channel_locks ${many(rows.map((row) => ({ ...row })))}`;
}

/** Rows of the lock of a channel, roles first; none if it is not locked. */
export function selectChannelLock(
	sql: Sql,
	channelId: string,
): Promise<ChannelLockRow[]> {
	return sql<ChannelLockRow>`
		SELECT channel_id, target_id, target_type, locked_at, allows, denies, allowed, existed
		FROM channel_locks WHERE channel_id = ${channelId} ORDER BY target_type, target_id`;
}

export async function deleteChannelLock(
	sql: Sql,
	channelId: string,
): Promise<void> {
	await sql`DELETE FROM channel_locks WHERE channel_id = ${channelId}`;
}
