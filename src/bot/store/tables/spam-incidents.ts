// Table "spam_incidents": people who were timed out for spam, with the ids of the messages to delete. A row is stored
// before the requests are sent to Discord. Table "spam_allowances": people whose posts a moderator marked as fine.
// Neither table has texts of messages or hashes of them. Times are in epoch milliseconds.

import type { RowOf } from "../../../lib/store/row.ts";
import { hasRow, rowsOf, type Sql } from "../../../lib/store/statement.ts";

export interface SpamIncidentRow extends RowOf<typeof spamTables, "spam_incidents"> {
	/** JSON: a message such as "the same file 3 times in 3 channels"; nothing that people wrote. */
	rule: string;
	state: "asked" | "done";
	/** "asked", "done" once Discord confirmed it, or why it failed: a message as JSON. */
	timeout: string;
	/** JSON: pairs of a message id and its channel id. */
	messages: string;
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

export const spamIncidentRows = rowsOf<SpamIncidentRow, "guild_id" | "id">("spam_incidents", ["guild_id", "id"]);

export const spamAllowanceRows = rowsOf<SpamAllowance, "guild_id" | "user_id">("spam_allowances", [
	"guild_id",
	"user_id",
]);

/** Within a minute before or after `time`. */
export function hasSpamNear(
	sql: Sql,
	{ guild_id, user_id }: Pick<SpamIncidentRow, "guild_id" | "user_id">,
	time: number,
): Promise<boolean> {
	return hasRow(sql`
		SELECT id FROM spam_incidents WHERE guild_id = ${guild_id} AND user_id = ${user_id}
			AND detected_at BETWEEN ${time - 60_000} AND ${time + 60_000}`);
}

type SpamAllowance = RowOf<typeof spamTables, "spam_allowances">;

/** Ending after `now`, latest end first. */
export function selectSpamAllowances(sql: Sql, now: number, limit: number): Promise<SpamAllowance[]> {
	return sql<SpamAllowance>`SELECT * FROM spam_allowances WHERE until > ${now} ORDER BY until DESC LIMIT ${limit}`;
}
