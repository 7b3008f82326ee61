// Table "announcements": the messages by which channels were told of a lock, a slow mode or raid mode, until these end. A
// row is stored before the message is sent.

import type { RowOf } from "../../../lib/store/row.ts";
import { rowsOf } from "../../../lib/store/statement.ts";

export interface Announcement extends RowOf<typeof announcementsTable, "announcements"> {
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

export const announcementsTable = `
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

export const announcementRows = rowsOf<Announcement, "id">("announcements", ["id"]);
