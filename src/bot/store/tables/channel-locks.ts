// Table "channel_locks": the permission overwrites that locking a channel changed, so that unlocking can restore them.

import { many, type Sql } from "../../../lib/store/statement.ts";

/**
 * How locking a channel changed one of the channel's permission overwrites. Unlocking uses this to undo the change.
 * Permissions are bit sets, as decimal numbers.
 */
export interface ChannelLockRow {
	channel_id: string;
	/** Id of the role or member of the permission overwrite. */
	target_id: string;
	/** Discord's type of the permission overwrite: 0 for a role, 1 for a member. */
	target_type: 0 | 1;
	/** When the channel was locked, in epoch milliseconds. */
	locked_at: number;
	/** Permissions that the channel lock made this permission overwrite allow. The overwrite did not deny them before. */
	allows: string;
	/** Permissions that the channel lock made this permission overwrite deny. The overwrite did not deny them before. */
	denies: string;
	/** Permissions changed by the channel lock that the permission overwrite allowed before the lock. */
	allowed: string;
	/**
	 * 1 if the channel already had this permission overwrite before the channel was locked, even an empty one; otherwise
	 * 0.
	 */
	existed: 0 | 1;
}

export const channelLocksTable = `
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
	)`;

/**
 * Stores how locking a channel changes the channel's permission overwrites. Stores either all `rows` or, if one cannot
 * be stored, none.
 */
export async function insertChannelLock(sql: Sql, rows: readonly ChannelLockRow[]): Promise<void> {
	await sql`INSERT INTO channel_locks ${many(rows.map((row) => ({ ...row })))}`;
}

/**
 * Returns how locking a channel changed the channel's permission overwrites, roles before members; an empty list if the
 * channel is not locked.
 */
export function selectChannelLock(sql: Sql, channelId: string): Promise<ChannelLockRow[]> {
	return sql<ChannelLockRow>`
		SELECT channel_id, target_id, target_type, locked_at, allows, denies, allowed, existed
		FROM channel_locks WHERE channel_id = ${channelId} ORDER BY target_type, target_id`;
}

export async function deleteChannelLock(sql: Sql, channelId: string): Promise<void> {
	await sql`DELETE FROM channel_locks WHERE channel_id = ${channelId}`;
}
