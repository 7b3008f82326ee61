// Table "tool_calls": the audit log of tool calls. Times are in epoch milliseconds.

import type { RowOf } from "../../../lib/store/row.ts";
import { many, rowsOf, type Sql } from "../../../lib/store/statement.ts";
import type { Effect } from "../../../mcp/tool.ts";

/** "failed": the result has `isError`; "refused": invalid arguments; "error": a bug in the bot. */
export type Outcome = "done" | "failed" | "refused" | "error";

export interface ToolCallRow extends RowOf<typeof toolCallsTable, "tool_calls"> {
	/** Ids increase with time. */
	id: string;
	/** Sent by the caller to find the call in its own log. */
	request_id: string | null;
	/** JSON, with texts and secrets removed. */
	arguments: string;
	outcome: Outcome;
	/** Discord id of the person in whose name the call was made. */
	person: string | null;
	/** Such as "key:ci"; null if the caller had no limits. */
	key: string | null;
	/** What the call, as it was made, could do: "read" for dry runs. */
	effect: Effect;
}

export const toolCallsTable = `
	CREATE TABLE tool_calls (
		id TEXT NOT NULL PRIMARY KEY,
		at BIGINT NOT NULL,
		request_id TEXT,
		client TEXT NOT NULL,
		tool TEXT NOT NULL,
		guild_id TEXT,
		arguments TEXT NOT NULL,
		outcome TEXT NOT NULL,
		milliseconds INTEGER NOT NULL,
		person TEXT,
		key TEXT,
		effect TEXT NOT NULL,
		message_id TEXT
	);
	CREATE INDEX tool_calls_at ON tool_calls (at, id);
	CREATE INDEX tool_calls_of_guild ON tool_calls (guild_id, at)`;

export const toolCallRows = rowsOf<ToolCallRow, "id">("tool_calls", ["id"]);

export async function insertToolCalls(sql: Sql, rows: readonly ToolCallRow[]): Promise<void> {
	await sql`INSERT INTO tool_calls ${many(rows)} ON CONFLICT (id) DO NOTHING`;
}

/** Undefined properties match all calls. */
export interface ToolCallFilter {
	/** Only together with `from`: there is no index of request ids. */
	requestId?: string | undefined;
	/** Only together with `from`, too. */
	messageId?: string | undefined;
	tool?: string | undefined;
	client?: string | undefined;
	guildId?: string | undefined;
	/** Id or name of a key. */
	key?: string | undefined;
	/** Of the person in whose name they were made. */
	person?: string | undefined;
	guildIds?: readonly string[] | undefined;
	outcome?: Outcome | undefined;
	from?: Date | undefined;
	/** Before `at` or, if `id` is set, also at `at` with a lower id. */
	before?: { at: Date; id?: string | undefined } | undefined;
	limit: number;
}

export function selectToolCalls(sql: Sql, filter: ToolCallFilter): Promise<ToolCallRow[]> {
	const { tool = null, client = null, outcome = null } = filter;
	const { guildId = null, key = null, person = null, requestId = null, messageId = null, limit } = filter;
	const { guildIds } = filter;
	const prefix = `key:${key}:`;
	const isAnyGuild = guildIds ? 0 : 1;
	// A list without elements is not valid SQL; no guild has this id.
	const among = many(guildIds?.length ? guildIds : [""]);
	const from = filter.from?.getTime() ?? 0;
	const before = filter.before?.at.getTime() ?? Number.MAX_SAFE_INTEGER;
	// Without `id`: no id is lower than "".
	const beforeId = filter.before?.id ?? "";
	// PostgreSQL cannot infer the type of a NULL parameter.
	return sql<ToolCallRow>`
		SELECT * FROM tool_calls
		WHERE at >= ${from} AND (at < ${before} OR (at = ${before} AND id < ${beforeId}))
			AND (CAST(${requestId} AS TEXT) IS NULL OR request_id = ${requestId})
			AND (CAST(${messageId} AS TEXT) IS NULL OR message_id = ${messageId})
			AND (CAST(${tool} AS TEXT) IS NULL OR tool = ${tool})
			AND (CAST(${client} AS TEXT) IS NULL OR client = ${client})
			AND (CAST(${guildId} AS TEXT) IS NULL OR guild_id = ${guildId})
			AND (CAST(${key} AS TEXT) IS NULL OR key = ${key} OR SUBSTR(key, 1, ${prefix.length}) = ${prefix})
			AND (CAST(${person} AS TEXT) IS NULL OR person = ${person})
			AND (CAST(${isAnyGuild} AS INTEGER) = 1 OR guild_id IN ${among})
			AND (CAST(${outcome} AS TEXT) IS NULL OR outcome = ${outcome})
		ORDER BY at DESC, id DESC LIMIT ${limit}`;
}
