// Table "spam_incidents": people who were timed out for spam, with the ids of the messages to delete. A row is stored
// before the requests are sent to Discord. Table "spam_allowances": people whose posts a moderator marked as fine.
// Neither table has texts of messages or hashes of them.

import { many, type Sql } from "../../../lib/store/statement.ts";

export interface SpamIncidentRow {
	guild_id: string;
	/** Id of the message that was detected as spam. */
	id: string;
	user_id: string;
	/** What was detected, such as "the same file in 3 channels". Contains nothing that people wrote. */
	rule: string;
	/** When the spam was detected, in epoch milliseconds. */
	detected_at: number;
	/** End of the timeout, in epoch milliseconds. */
	until: number;
	/** "asked" until the bot has finished all its actions about the incident. */
	state: "asked" | "done";
	/** "asked" until Discord has confirmed the timeout, then "done"; or the reason why the timeout failed. */
	timeout: string;
	/** The messages to delete, as a JSON object: arrays of message ids by channel id. */
	messages: string;
	/** Number of the moderation case in the guild; null if no case is stored. */
	case_number: number | null;
	/** Ids of the channel and the message with the entry in the moderation log; null if there is none. */
	log_channel_id: string | null;
	log_message_id: string | null;
}

export const spamTables = `
	CREATE TABLE spam_incidents (
		guild_id TEXT NOT NULL,
		id TEXT NOT NULL,
		user_id TEXT NOT NULL,
		rule TEXT NOT NULL,
		detected_at BIGINT NOT NULL,
		until BIGINT NOT NULL,
		state TEXT NOT NULL,
		timeout TEXT NOT NULL,
		messages TEXT NOT NULL,
		case_number BIGINT,
		log_channel_id TEXT,
		log_message_id TEXT,
		PRIMARY KEY (guild_id, id)
	);
	CREATE INDEX spam_incidents_by_time ON spam_incidents (detected_at);
	CREATE TABLE spam_allowances (
		guild_id TEXT NOT NULL,
		user_id TEXT NOT NULL,
		until BIGINT NOT NULL,
		PRIMARY KEY (guild_id, user_id)
	)`;

/** Stores a new or changed incident. */
export async function saveSpamIncident(sql: Sql, row: SpamIncidentRow): Promise<void> {
	await sql`
		INSERT INTO spam_incidents ${many([{ ...row }])}
		ON CONFLICT (guild_id, id) DO UPDATE SET
			state = excluded.state, timeout = excluded.timeout, messages = excluded.messages,
			case_number = excluded.case_number, log_channel_id = excluded.log_channel_id,
			log_message_id = excluded.log_message_id`;
}

export async function selectSpamIncident(sql: Sql, guildId: string, id: string): Promise<SpamIncidentRow | undefined> {
	const [row] = await sql<SpamIncidentRow>`
		SELECT * FROM spam_incidents WHERE guild_id = ${guildId} AND id = ${id}`;
	return row;
}

/** Whether spam of a person was detected in a guild within a minute before or after `time` (epoch milliseconds). */
export async function hasSpamNear(
	sql: Sql,
	{ guild_id, user_id }: Pick<SpamIncidentRow, "guild_id" | "user_id">,
	time: number,
): Promise<boolean> {
	const rows = await sql`
		SELECT id FROM spam_incidents WHERE guild_id = ${guild_id} AND user_id = ${user_id}
			AND detected_at BETWEEN ${time - 60_000} AND ${time + 60_000}`;
	return rows.length > 0;
}

/** Returns the unfinished incidents, oldest first, at most `limit`. */
export function selectOpenSpamIncidents(sql: Sql, limit: number): Promise<SpamIncidentRow[]> {
	return sql<SpamIncidentRow>`
		SELECT * FROM spam_incidents WHERE state = ${"asked"} ORDER BY detected_at LIMIT ${limit}`;
}

/** Deletes incidents that were detected, and allowances that ended, before `time` (epoch milliseconds). */
export async function deleteOldSpam(sql: Sql, time: number): Promise<void> {
	await sql`DELETE FROM spam_incidents WHERE detected_at < ${time}`;
	await sql`DELETE FROM spam_allowances WHERE until < ${time}`;
}

export interface SpamAllowance {
	guild_id: string;
	user_id: string;
	/** Until when the person's posts are not treated as spam, in epoch milliseconds. */
	until: number;
}

export async function saveSpamAllowance(sql: Sql, allowance: SpamAllowance): Promise<void> {
	await sql`
		INSERT INTO spam_allowances ${many([{ ...allowance }])}
		ON CONFLICT (guild_id, user_id) DO UPDATE SET until = excluded.until`;
}

/** Returns the allowances that end after `now` (epoch milliseconds), latest end first, at most `limit`. */
export function selectSpamAllowances(sql: Sql, now: number, limit: number): Promise<SpamAllowance[]> {
	return sql<SpamAllowance>`
		SELECT * FROM spam_allowances WHERE until > ${now} ORDER BY until DESC LIMIT ${limit}`;
}
