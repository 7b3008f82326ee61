// The table of tool calls: who called what, when, and what came of it.

import type { Migration } from "./migrations.ts";
import { many, type Sql } from "./statement.ts";

/** What has come of a call: "done", "failed" (a result with isError), "refused" (its arguments), "error" (a fault of ours). */
export type Outcome = "done" | "failed" | "refused" | "error";

export interface ToolCallRow {
	/** Grows with time. */
	id: string;
	/** When it came, in epoch milliseconds. */
	at: number;
	/** What its caller calls it in their own log. */
	request_id: string | null;
	/** The name that the client gave itself. */
	client: string;
	tool: string;
	guild_id: string | null;
	/** JSON, with texts and secrets taken out. */
	arguments: string;
	outcome: Outcome;
	milliseconds: number;
}

export const toolCallsTable: Migration = {
	number: 1,
	name: "tool calls",
	text: `
		CREATE TABLE tool_calls (
			id TEXT NOT NULL PRIMARY KEY,
			at BIGINT NOT NULL,
			request_id TEXT,
			client TEXT NOT NULL,
			tool TEXT NOT NULL,
			guild_id TEXT,
			arguments TEXT NOT NULL,
			outcome TEXT NOT NULL,
			milliseconds INTEGER NOT NULL
		);
		CREATE INDEX tool_calls_at ON tool_calls (at, id)`,
};

/** Rows that are there already are left as they are: writing again is safe. */
export async function insertToolCalls(
	sql: Sql,
	rows: readonly ToolCallRow[],
): Promise<void> {
	await sql`INSERT INTO tool_calls ${many(rows.map((row) => ({ ...row })))} ON CONFLICT (id) DO NOTHING`;
}

/** What is looked for; what is undefined does not matter. */
export interface ToolCallFilter {
	tool?: string | undefined;
	client?: string | undefined;
	guildId?: string | undefined;
	outcome?: Outcome | undefined;
	/** Those from this instant on. */
	from?: Date | undefined;
	/** Those before this instant, and of it those before this id, if one is given. */
	before?: { at: Date; id?: string | undefined } | undefined;
	/** How many at most. */
	limit: number;
}

/** The latest calls, newest first. */
export function selectToolCalls(
	sql: Sql,
	filter: ToolCallFilter,
): Promise<ToolCallRow[]> {
	const { tool = null, client = null, outcome = null } = filter;
	const { guildId = null, limit } = filter;
	const from = filter.from?.getTime() ?? 0;
	const before = filter.before?.at.getTime() ?? Number.MAX_SAFE_INTEGER;
	// No id is below this one.
	const beforeId = filter.before?.id ?? "";
	// PostgreSQL has to be told what type a NULL would be of.
	return sql<ToolCallRow>`
		SELECT id, at, request_id, client, tool, guild_id, arguments, outcome, milliseconds FROM tool_calls
		WHERE at >= ${from} AND (at < ${before} OR (at = ${before} AND id < ${beforeId}))
			AND (CAST(${tool} AS TEXT) IS NULL OR tool = ${tool})
			AND (CAST(${client} AS TEXT) IS NULL OR client = ${client})
			AND (CAST(${guildId} AS TEXT) IS NULL OR guild_id = ${guildId})
			AND (CAST(${outcome} AS TEXT) IS NULL OR outcome = ${outcome})
		ORDER BY at DESC, id DESC LIMIT ${limit}`;
}

/** Deletes at most `limit` of the calls before an instant. Gives their number. */
export async function deleteToolCallsBefore(
	sql: Sql,
	instant: Date,
	limit: number,
): Promise<number> {
	const deleted = await sql`
		DELETE FROM tool_calls WHERE id IN (
			SELECT id FROM tool_calls WHERE at < ${instant.getTime()} ORDER BY at, id LIMIT ${limit}
		) RETURNING id`;
	return deleted.length;
}
