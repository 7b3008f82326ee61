// Table "channel_locks": the permission overwrites that locking a channel changed, so that unlocking can restore them.
// Times are in epoch milliseconds.

import type { RowOf } from "../../../lib/store/row.ts";
import { rowsOf } from "../../../lib/store/statement.ts";

/** Permissions are bit sets, as decimal numbers. */
export interface ChannelLockRow extends RowOf<typeof channelLocksTable, "channel_locks"> {
	/** 0 for a role, 1 for a member. */
	target_type: 0 | 1;
	/** Not denied before the lock, which allows them. */
	allows: string;
	/** Not denied before the lock, which denies them. */
	denies: string;
	/** Changed by the lock, allowed before. */
	allowed: string;
	/** 1 if the overwrite was there before the lock, even an empty one. */
	existed: 0 | 1;
}

export const channelLocksTable = `
	CREATE TABLE channel_locks (
		guild_id TEXT NOT NULL,
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

export const channelLockRows = rowsOf<ChannelLockRow, "channel_id" | "target_id">("channel_locks", [
	"channel_id",
	"target_id",
]);
