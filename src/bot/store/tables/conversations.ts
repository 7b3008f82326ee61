// Table "conversation_messages": questions to the AI chat and its answers, one row per Discord message. A row names the
// message it continues, so a conversation is a chain of rows. Times are in epoch milliseconds.

import type { RowOf } from "../../../lib/store/row.ts";
import { many, rowsOf, type Sql } from "../../../lib/store/statement.ts";

export interface Turn extends RowOf<typeof conversationsTable, "conversation_messages"> {
	/** Message that this one continues; null at the start of a conversation. */
	parent_id: string | null;
	/** Author; for an answer of the AI, the user whose question it answers. */
	user_id: string;
	role: "user" | "assistant";
}

export const conversationsTable = `
	CREATE TABLE conversation_messages (
		message_id TEXT NOT NULL PRIMARY KEY,
		parent_id TEXT,
		guild_id TEXT NOT NULL,
		channel_id TEXT NOT NULL,
		user_id TEXT NOT NULL,
		role TEXT NOT NULL,
		name TEXT NOT NULL,
		content TEXT NOT NULL,
		at BIGINT NOT NULL
	);
	CREATE INDEX conversation_messages_at ON conversation_messages (at);
	CREATE INDEX conversation_messages_latest ON conversation_messages (channel_id, user_id, at)`;

export const turnRows = rowsOf<Turn, "message_id">("conversation_messages", ["message_id"]);

/** Of a stored message, only the content is updated. */
export async function saveTurns(sql: Sql, turns: readonly Turn[]): Promise<void> {
	await sql`
		INSERT INTO conversation_messages ${many(turns)}
		ON CONFLICT (message_id) DO UPDATE SET content = excluded.content`;
}

/** The message and those before it, newest first; empty if it is not stored. */
export function selectChain(sql: Sql, messageId: string, limit: number): Promise<Turn[]> {
	return sql<Turn>`
		WITH RECURSIVE chain (message_id, parent_id, depth) AS (
			SELECT message_id, parent_id, 1 FROM conversation_messages WHERE message_id = ${messageId}
			UNION ALL
			SELECT older.message_id, older.parent_id, chain.depth + 1
			FROM conversation_messages older JOIN chain ON older.message_id = chain.parent_id
			WHERE chain.depth < ${limit}
		)
		SELECT turn.message_id, turn.*
		FROM chain JOIN conversation_messages turn ON turn.message_id = chain.message_id
		ORDER BY chain.depth`;
}

/** The AI's latest answer at or after `since`, to anybody or to `userId`. */
export async function selectLatestAnswer(
	sql: Sql,
	filter: { channelId: string; userId?: string | undefined; since: number },
): Promise<string | undefined> {
	const { channelId, userId = "", since } = filter;
	const [latest] = await sql<{ message_id: string }>`
		SELECT message_id FROM conversation_messages
		WHERE channel_id = ${channelId} AND (user_id = ${userId} OR ${userId} = '') AND role = ${"assistant"} AND at >= ${since}
		ORDER BY at DESC, message_id DESC LIMIT 1`;
	return latest?.message_id;
}
