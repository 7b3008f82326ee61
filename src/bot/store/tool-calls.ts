// Table "tool_calls": the audit log of tool calls.

import type { Migration } from "./database/migrations.ts";
import { many, type Sql } from "./database/statement.ts";

/** "failed": a result with isError. "refused": invalid arguments. "error": a bug. */
export type Outcome = "done" | "failed" | "refused" | "error";

export interface ToolCallRow {
	/** Increases with time. */
	id: string;
	/** When the call arrived, in epoch milliseconds. */
	at: number;
	/** Request id in the caller's own log. */
	request_id: string | null;
	/** Name that the client sent. */
	client: string;
	tool: string;
	guild_id: string | null;
	/** JSON, with texts and secrets removed. */
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

/** Inserts rows. Existing ones are kept, so a repeated insert is safe. */
export async function insertToolCalls(
	sql: Sql,
	rows: readonly ToolCallRow[],
): Promise<void> {
	await sql`INSERT INTO tool_calls ${many(rows.map((row) => ({ ...row })))} ON CONFLICT (id) DO NOTHING`;
}

/** Which calls to select. Properties that are undefined match all. */
export interface ToolCallFilter {
	tool?: string | undefined;
	client?: string | undefined;
	guildId?: string | undefined;
	outcome?: Outcome | undefined;
	/** Calls from this instant on. */
	from?: Date | undefined;
	/** Calls before this instant; with `id`, also those at this instant with a lower id. */
	before?: { at: Date; id?: string | undefined } | undefined;
	limit: number;
}

/** Matching calls, newest first, at most `limit`. */
export function selectToolCalls(
	sql: Sql,
	filter: ToolCallFilter,
): Promise<ToolCallRow[]> {
	const { tool = null, client = null, outcome = null } = filter;
	const { guildId = null, limit } = filter;
	const from = filter.from?.getTime() ?? 0;
	const before = filter.before?.at.getTime() ?? Number.MAX_SAFE_INTEGER;
	// Without `id`: no id is lower than "".
	const beforeId = filter.before?.id ?? "";
	// PostgreSQL cannot infer the type of a NULL parameter.
	return sql<ToolCallRow>`
		SELECT id, at, request_id, client, tool, guild_id, arguments, outcome, milliseconds FROM tool_calls
		WHERE at >= ${from} AND (at < ${before} OR (at = ${before} AND id < ${beforeId}))
			AND (CAST(${tool} AS TEXT) IS NULL OR tool = ${tool})
			AND (CAST(${client} AS TEXT) IS NULL OR client = ${client})
			AND (CAST(${guildId} AS TEXT) IS NULL OR guild_id = ${guildId})
			AND (CAST(${outcome} AS TEXT) IS NULL OR outcome = ${outcome})
		ORDER BY at DESC, id DESC LIMIT ${limit}`;
}

/** Deletes at most `limit` calls before an instant. Returns how many. */
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
