// Table "tool_calls": the audit log of tool calls.

import { many, type Sql } from "../../../lib/store/statement.ts";
import type { Effect } from "../../../mcp/tool.ts";

/**
 * Outcome of an MCP tool call. "failed": the result has `isError`; "refused": the arguments were invalid; "error": a
 * bug in the bot.
 */
export type Outcome = "done" | "failed" | "refused" | "error";

export interface ToolCallRow {
	/** Id of the tool call. Ids increase with time. */
	id: string;
	/** When the MCP tool call arrived, in epoch milliseconds. */
	at: number;
	/** Request id with which the caller can find the MCP tool call in its own log; null if the caller sent none. */
	request_id: string | null;
	/** Name of the MCP client that made the tool call, as sent by the client. */
	client: string;
	tool: string;
	guild_id: string | null;
	/** Arguments of the MCP tool call as JSON, with texts and secrets removed. */
	arguments: string;
	outcome: Outcome;
	milliseconds: number;
	/** Discord id of the person in whose name the MCP tool call was made; null if it was made in nobody's name. */
	person: string | null;
	/** Id of the principal that made the MCP tool call, such as "key:ci"; null if the caller had no limits. */
	key: string | null;
	/** What the call, as it was made, could do: "read" for dry runs. */
	effect: Effect;
	/** Id of the message that the call sent; null if it sent none. */
	message_id: string | null;
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
	CREATE INDEX tool_calls_at ON tool_calls (at, id)`;

/** Adds MCP tool calls to the audit log. Ignores calls that the audit log already contains. */
export async function insertToolCalls(sql: Sql, rows: readonly ToolCallRow[]): Promise<void> {
	await sql`INSERT INTO tool_calls ${many(rows.map((row) => ({ ...row })))} ON CONFLICT (id) DO NOTHING`;
}

/** Which MCP tool calls to select from the audit log. Properties that are undefined match all calls. */
export interface ToolCallFilter {
	/**
	 * Selects tool calls with this request id. Use it only together with `from`: the table has no index of request ids.
	 */
	requestId?: string | undefined;
	/** Selects the tool call that sent this message. Use it only together with `from`, too. */
	messageId?: string | undefined;
	tool?: string | undefined;
	client?: string | undefined;
	guildId?: string | undefined;
	/** Selects MCP tool calls in one of these guilds. */
	guildIds?: readonly string[] | undefined;
	outcome?: Outcome | undefined;
	/** Selects MCP tool calls at or after this time. */
	from?: Date | undefined;
	/**
	 * Selects MCP tool calls before the time `at`. If `id` is set, also selects the calls at exactly this time that have
	 * a lower id.
	 */
	before?: { at: Date; id?: string | undefined } | undefined;
	limit: number;
}

/** Returns the MCP tool calls in the audit log that match the filter, newest first, at most `limit`. */
export function selectToolCalls(sql: Sql, filter: ToolCallFilter): Promise<ToolCallRow[]> {
	const { tool = null, client = null, outcome = null } = filter;
	const { guildId = null, requestId = null, messageId = null, limit } = filter;
	const { guildIds } = filter;
	const isAnyGuild = guildIds ? 0 : 1;
	// A list without elements is not valid SQL; no guild has this id.
	const among = many(guildIds?.length ? guildIds : [""]);
	const from = filter.from?.getTime() ?? 0;
	const before = filter.before?.at.getTime() ?? Number.MAX_SAFE_INTEGER;
	// Without `id`: no id is lower than "".
	const beforeId = filter.before?.id ?? "";
	// PostgreSQL cannot infer the type of a NULL parameter.
	return sql<ToolCallRow>`
		SELECT id, at, request_id, client, tool, guild_id, arguments, outcome, milliseconds, person, key, effect, message_id FROM tool_calls
		WHERE at >= ${from} AND (at < ${before} OR (at = ${before} AND id < ${beforeId}))
			AND (CAST(${requestId} AS TEXT) IS NULL OR request_id = ${requestId})
			AND (CAST(${messageId} AS TEXT) IS NULL OR message_id = ${messageId})
			AND (CAST(${tool} AS TEXT) IS NULL OR tool = ${tool})
			AND (CAST(${client} AS TEXT) IS NULL OR client = ${client})
			AND (CAST(${guildId} AS TEXT) IS NULL OR guild_id = ${guildId})
			AND (CAST(${isAnyGuild} AS INTEGER) = 1 OR guild_id IN ${among})
			AND (CAST(${outcome} AS TEXT) IS NULL OR outcome = ${outcome})
		ORDER BY at DESC, id DESC LIMIT ${limit}`;
}

/** Deletes at most `limit` MCP tool calls before `instant` from the audit log. Returns how many were deleted. */
export async function deleteToolCallsBefore(sql: Sql, instant: Date, limit: number): Promise<number> {
	const deleted = await sql`
		DELETE FROM tool_calls WHERE id IN (
			SELECT id FROM tool_calls WHERE at < ${instant.getTime()} ORDER BY at, id LIMIT ${limit}
		) RETURNING id`;
	return deleted.length;
}
