// Tables of AI chat. "conversation_messages": questions and answers, one row per Discord message, which names the message that it
// continues, so a conversation is a chain of rows. "chat_use": questions and tokens by person and day, the UTC midnight of its
// date in the bot's time zone. "asked_plans": planned changes that wait for a press by who asked, which takes the row, so that a
// plan runs at most once. "routines": questions that are answered at certain times, in the name of who set them. Times are in
// epoch milliseconds.

import type { RowOf } from "../../../lib/store/row.ts";
import { hasRow, many, rowsOf, runNamed, type Sql } from "../../../lib/store/statement.ts";

export const chatTables = `
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
	CREATE INDEX conversation_messages_latest ON conversation_messages (channel_id, user_id, at);
	CREATE TABLE chat_use (
		guild_id TEXT NOT NULL,
		day BIGINT NOT NULL,
		user_id TEXT NOT NULL,
		questions BIGINT NOT NULL,
		tokens BIGINT NOT NULL,
		PRIMARY KEY (guild_id, day, user_id)
	);
	CREATE TABLE asked_plans (
		id TEXT NOT NULL PRIMARY KEY,
		guild_id TEXT NOT NULL,
		person_id TEXT NOT NULL,
		link TEXT NOT NULL,
		answer_id TEXT NOT NULL,
		calls TEXT NOT NULL,
		expires_at BIGINT NOT NULL
	);
	CREATE TABLE routines (
		id TEXT NOT NULL PRIMARY KEY,
		guild_id TEXT NOT NULL,
		channel_id TEXT NOT NULL,
		person_id TEXT NOT NULL,
		question TEXT NOT NULL,
		schedule TEXT NOT NULL,
		next_at BIGINT NOT NULL
	)`;

export interface Turn extends RowOf<typeof chatTables, "conversation_messages"> {
	/** Message that this one continues; null at the start of a conversation. */
	parent_id: string | null;
	/** Author; for an answer of the AI, the user whose question it answers. */
	user_id: string;
	role: "user" | "assistant";
}

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

/** False, and nothing is added, if the person would have more than `max` questions on the day. */
export function addUse(sql: Sql, use: RowOf<typeof chatTables, "chat_use">, max = Number.MAX_SAFE_INTEGER) {
	return hasRow(sql`
		INSERT INTO chat_use ${many([use])} ON CONFLICT (guild_id, day, user_id) DO UPDATE SET
			questions = chat_use.questions + excluded.questions, tokens = chat_use.tokens + excluded.tokens
		WHERE chat_use.questions + excluded.questions <= ${max} RETURNING day`);
}

type Sums = Record<"questions_today" | "tokens_today" | "tokens_this_month", number>;

/** Of a guild, or a person in it, or of each guild that used anything in the month. */
export function selectUse(sql: Sql, days: ReturnType<typeof daysAt>, of: { guild_id?: string; user_id?: string } = {}) {
	const where = Object.keys(of).map((column) => ` AND ${column} = $${column}`);
	const sum = (value: string, name: keyof Sums) => `CAST(SUM(${value}) AS BIGINT) AS ${name}`;
	const today = (column: string) => `CASE WHEN day = $day THEN ${column} ELSE 0 END`;
	const sums = [sum(today("questions"), "questions_today"), sum(today("tokens"), "tokens_today")];
	const text = `SELECT guild_id, ${sums.join(", ")}, ${sum("tokens", "tokens_this_month")} FROM chat_use
		WHERE day BETWEEN $month AND $day${where.join("")} GROUP BY guild_id`;
	return runNamed<Sums & { guild_id: string }>(sql, text, { ...days, ...of });
}

/** The date there, and the first of its month. */
export function daysAt(at: number, timeZone: string) {
	// In Swedish, dates are written as in ISO 8601.
	const date = new Intl.DateTimeFormat("sv", { dateStyle: "short", timeZone }).format(at);
	return { day: Date.parse(date), month: Date.parse(`${date.slice(0, 8)}01`) };
}

/** Times are in epoch milliseconds. `calls`: JSON. `link`: address of the question. `answer_id`: message of its answer, or "". */
export type AskedPlan = RowOf<typeof chatTables, "asked_plans">;

export const askedPlanRows = rowsOf<AskedPlan, "id">("asked_plans", ["id"]);

/** `schedule`: JSON. */
export type Routine = RowOf<typeof chatTables, "routines">;

export const routineRows = rowsOf<Routine, "guild_id" | "id">("routines", ["guild_id", "id"]);
