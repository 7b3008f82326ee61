// Table "channel_locks": the permission overwrites that locking a channel changed, so that unlocking can restore them. Table
// "announcements": the messages by which channels were told of a lock, a slow mode or raid mode, until these end; a row is stored
// before the message is sent. Times are in epoch milliseconds.

import type { RowOf } from "../../../lib/store/row.ts";
import { rowsOf } from "../../../lib/store/statement.ts";

export const channelLockTables = `
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
	);
	CREATE TABLE announcements (
		id TEXT NOT NULL PRIMARY KEY,
		guild_id TEXT NOT NULL,
		channel_id TEXT NOT NULL,
		what TEXT NOT NULL,
		value BIGINT NOT NULL,
		content TEXT NOT NULL,
		asked_at BIGINT NOT NULL,
		message_id TEXT
	)`;

/** Permissions are bit sets, as decimal numbers. */
export interface ChannelLockRow extends RowOf<typeof channelLockTables, "channel_locks"> {
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

export const channelLockRows = rowsOf<ChannelLockRow, "channel_id" | "target_id">("channel_locks", [
	"channel_id",
	"target_id",
]);

export interface Announcement extends RowOf<typeof channelLockTables, "announcements"> {
	/** Also the nonce of the message. */
	id: string;
	what: "lock" | "slow_mode" | "raid_on";
	/** What still holds: `locked_at` of the lock, or the seconds of slow mode. 0 for raid mode. */
	value: number;
	/** Text of the message. */
	content: string;
	/** In epoch milliseconds. */
	asked_at: number;
	/** Null as long as it is not known whether the message was sent. */
	message_id: string | null;
}

export const announcementRows = rowsOf<Announcement, "id">("announcements", ["id"]);
