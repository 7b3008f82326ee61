// Table "announcements": the messages by which channels were told of a lock, a slow mode or raid mode, until these end. A
// row is stored before the message is sent.

import type { RowOf } from "../../../lib/store/row.ts";
import { hasRow, many, type Sql } from "../../../lib/store/statement.ts";

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

export async function insertAnnouncement(sql: Sql, row: Announcement): Promise<void> {
	await sql`INSERT INTO announcements ${many([row])}`;
}

/** Whether the channel was told the same, and that was not removed. */
export function hasAnnouncement(sql: Sql, { channel_id, what, value }: Announcement): Promise<boolean> {
	return hasRow(sql`
		SELECT id FROM announcements WHERE channel_id = ${channel_id} AND what = ${what} AND value = ${value}`);
}

export async function setAnnouncementMessage(sql: Sql, id: string, messageId: string): Promise<void> {
	await sql`UPDATE announcements SET message_id = ${messageId} WHERE id = ${id}`;
}

export function selectAnnouncements(sql: Sql): Promise<Announcement[]> {
	return sql<Announcement>`SELECT * FROM announcements ORDER BY asked_at`;
}

export async function deleteAnnouncement(sql: Sql, id: string): Promise<void> {
	await sql`DELETE FROM announcements WHERE id = ${id}`;
}
