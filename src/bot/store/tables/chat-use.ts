// Table "chat_use": questions and tokens of AI chat, by person and day. A day is the UTC midnight of its date in the bot's
// time zone, in epoch milliseconds.

import type { RowOf } from "../../../lib/store/row.ts";
import { hasRow, many, runNamed, type Sql } from "../../../lib/store/statement.ts";

export const chatUseTable = `
	CREATE TABLE chat_use (
		guild_id TEXT NOT NULL,
		day BIGINT NOT NULL,
		user_id TEXT NOT NULL,
		questions BIGINT NOT NULL,
		tokens BIGINT NOT NULL,
		PRIMARY KEY (guild_id, day, user_id)
	)`;

/** False, and nothing is added, if the person would have more than `max` questions on the day. */
export function addUse(sql: Sql, use: RowOf<typeof chatUseTable, "chat_use">, max = Number.MAX_SAFE_INTEGER) {
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
