// Table "chat_use": questions and tokens of AI chat, by person and day. A day is the UTC midnight of its date, in epoch
// milliseconds.

import type { RowOf } from "../../../lib/store/row.ts";
import { hasRow, many, type Sql } from "../../../lib/store/statement.ts";

export const chatUseTable = `
	CREATE TABLE chat_use (
		guild_id TEXT NOT NULL,
		day BIGINT NOT NULL,
		user_id TEXT NOT NULL,
		questions BIGINT NOT NULL,
		tokens BIGINT NOT NULL,
		PRIMARY KEY (guild_id, day, user_id)
	);
	CREATE INDEX chat_use_day ON chat_use (day)`;

type Use = RowOf<typeof chatUseTable, "chat_use">;

type PersonAndDay = Pick<Use, "guild_id" | "day" | "user_id">;

/** False if the person has asked `max` questions on this day. */
export function countQuestion(sql: Sql, one: PersonAndDay, max = Number.MAX_SAFE_INTEGER): Promise<boolean> {
	return hasRow(sql`
		INSERT INTO chat_use ${many([{ ...one, questions: 1, tokens: 0 }])}
		ON CONFLICT (guild_id, day, user_id) DO UPDATE SET questions = chat_use.questions + 1
		WHERE chat_use.questions < ${max} RETURNING questions`);
}

export async function addTokens(sql: Sql, one: PersonAndDay, tokens: number): Promise<void> {
	await sql`
		INSERT INTO chat_use ${many([{ ...one, questions: 0, tokens }])}
		ON CONFLICT (guild_id, day, user_id) DO UPDATE SET tokens = chat_use.tokens + excluded.tokens`;
}

/** Of the day and of its month up to now: of the guild, or of one person in it. */
export async function selectUse(sql: Sql, guildId: string, day: number, month: number, userId = "") {
	const [use] = await sql<Record<"questionsToday" | "tokensToday" | "tokensThisMonth", number>>`
		SELECT CAST(COALESCE(SUM(CASE WHEN day = ${day} THEN questions END), 0) AS BIGINT) AS "questionsToday",
			CAST(COALESCE(SUM(CASE WHEN day = ${day} THEN tokens END), 0) AS BIGINT) AS "tokensToday",
			CAST(COALESCE(SUM(tokens), 0) AS BIGINT) AS "tokensThisMonth"
		FROM chat_use
		WHERE guild_id = ${guildId} AND day BETWEEN ${month} AND ${day} AND (${userId} = '' OR user_id = ${userId})`;
	return use ?? { questionsToday: 0, tokensToday: 0, tokensThisMonth: 0 };
}
