// The table of locks: what locking a channel changed in what the channel says of someone, so that it can be undone.

import type { Migration } from "./migrations.ts";
import { many, type Sql } from "./statement.ts";

/** What a lock changes for a role or a member. Permissions are bits, in decimal. */
export interface ChannelLockRow {
	channel_id: string;
	/** The role's or the member's. */
	target_id: string;
	/** As Discord counts: 0 is a role, 1 a member. */
	target_type: 0 | 1;
	/** Epoch milliseconds. */
	locked_at: number;
	/** What it allows and denies. None of it was denied before. */
	allows: string;
	denies: string;
	/** What of that was allowed before. */
	allowed: string;
	/** 1 where the channel said something of them before, be it nothing in particular. */
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

/** Notes a lock: all of its rows or none. */
export async function insertChannelLock(
	sql: Sql,
	rows: readonly ChannelLockRow[],
): Promise<void> {
	await sql`INSERT INTO channel_locks ${many(rows.map((row) => ({ ...row })))}`;
}

/** What the lock of a channel changes, roles first; none where it is not locked. */
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
