// Table "tool_calls": the audit log of tool calls. Times are in epoch milliseconds.

import type { RowOf } from "../../../lib/store/row.ts";
import { many, rowsOf, runNamed, type Sql } from "../../../lib/store/statement.ts";
import type { Effect } from "../../../mcp/tool.ts";

/** "refused": nothing was done, for example because of wrong arguments; "failed": Discord did not do it, or only a part was done; "error": a bug in the bot. */
export type Outcome = "done" | "failed" | "refused" | "error";

export interface ToolCallRow extends RowOf<typeof toolCallsTable, "tool_calls"> {
	/** Ids increase with time. */
	id: string;
	/** Sent by the caller to find the call in its own log. */
	request_id: string | null;
	/** JSON, with secrets and, by default, texts removed. */
	arguments: string;
	outcome: Outcome;
	/** Discord id of the person in whose name the call was made. */
	person: string | null;
	/** Such as "key:ci"; null if the caller had no limits. */
	key: string | null;
	/** What the call, as it was made, could do: "read" for dry runs. */
	effect: Effect;
	/** The error; with `audit_texts`, also the result of a call that changed something. */
	answer: string | null;
	/** JSON of `DiscordWork`; null if nothing was asked of Discord. */
	discord: string | null;
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
		message_id TEXT,
		answer TEXT,
		discord TEXT
	);
	CREATE INDEX tool_calls_at ON tool_calls (at, id);
	CREATE INDEX tool_calls_of_guild ON tool_calls (guild_id, at)`;

export const toolCallRows = rowsOf<ToolCallRow, "id">("tool_calls", ["id"]);

/** Undefined properties match all calls. */
export interface ToolCallFilter {
	/** Also of its parts, ".1" and so on. Only together with `from`: there is no index of request ids. */
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
	outcomes?: readonly Outcome[] | undefined;
	/** Only calls that could change something. */
	changes?: boolean | undefined;
	/** Anywhere in what is kept of the call, in small or capital letters. */
	search?: string | undefined;
	/** Ids whose names match `search`. Calls of these guilds and persons match; calls that mention one of the first do, too. */
	named?: readonly string[] | undefined;
	from?: Date | undefined;
	/** Before `at` or, if `id` is set, also at `at` with a lower id. */
	before?: { at: Date; id?: string | undefined } | undefined;
	limit: number;
}

const searched = ["tool", "client", "arguments", "answer", "key", "person", "request_id", "guild_id"];
/** Of the ids in `named`: looking for one in the texts of 50,000 calls takes 30 ms, in which SQLite blocks the process. */
const maxInTexts = 10;

/** Conditions, and their values. */
function matching({ requestId, messageId, guildId, key, guildIds, outcomes, named = [], ...filter }: ToolCallFilter) {
	const { tool, client, person, changes, search, from, before, limit } = filter;
	const [part, prefix] = [`${requestId}.`, `key:${key}:`];
	const equal = { message_id: messageId, tool, client, guild_id: guildId, person };
	const given = Object.entries(equal).flatMap(([column, value]) => (value === undefined ? [] : [[column, value]]));
	// A list without elements is not valid SQL; no guild has this id.
	const among = (values: readonly string[] = []) => many(values.length > 0 ? values : [""]);
	const values = {
		...{ requestId, part, key, prefix, limit },
		...Object.fromEntries(given),
		from: from?.getTime() ?? 0,
		before: before?.at.getTime() ?? Number.MAX_SAFE_INTEGER,
		// Without `id`: no id is lower than "".
		beforeId: before?.id ?? "",
		search: `%${search?.toLowerCase().replace(/[!%_]/g, "!$&")}%`,
		named: among(named),
		...Object.fromEntries(named.map((id, at) => [`named${at}`, `%${id}%`])),
		guildIds: among(guildIds),
		outcomes: among(outcomes),
	};
	const anywhere = [
		...searched.map((column) => `LOWER(${column}) LIKE $search ESCAPE '!'`),
		...["guild_id", "person"].map((column) => `${column} IN $named`),
		...named
			.slice(0, maxInTexts)
			.flatMap((_, at) => ["arguments", "answer", "discord"].map((column) => `${column} LIKE $named${at}`)),
	];
	const conditions = [
		"at >= $from AND (at < $before OR (at = $before AND id < $beforeId))",
		...given.map(([column]) => `${column} = $${column}`),
		requestId !== undefined && `(request_id = $requestId OR SUBSTR(request_id, 1, ${part.length}) = $part)`,
		key !== undefined && `(key = $key OR SUBSTR(key, 1, ${prefix.length}) = $prefix)`,
		changes && "effect <> 'read'",
		search !== undefined && `(${anywhere.join(" OR ")})`,
		guildIds && "guild_id IN $guildIds",
		outcomes && "outcome IN $outcomes",
	];
	return { text: conditions.filter((one) => typeof one === "string").join(" AND "), values };
}

export function selectToolCalls(sql: Sql, filter: ToolCallFilter): Promise<ToolCallRow[]> {
	const { text, values } = matching(filter);
	return runNamed(sql, `SELECT * FROM tool_calls WHERE ${text} ORDER BY at DESC, id DESC LIMIT $limit`, values);
}

export interface CallsOfHour {
	/** Since 1970. */
	hour: number;
	calls: number;
	refused: number;
	failed: number;
}

/** Hours without calls, and entries about approvals, are left out. */
export function countToolCalls(sql: Sql, filter: ToolCallFilter): Promise<CallsOfHour[]> {
	const sum = (condition: string) => `SUM(CASE WHEN ${condition} THEN 1 ELSE 0 END)`;
	const { text, values } = matching(filter);
	const whole = `SELECT at / 3600000 AS hour, COUNT(*) AS calls, ${sum("outcome = 'refused'")} AS refused,
		${sum("outcome IN ('failed', 'error')")} AS failed FROM tool_calls
		WHERE tool <> 'approval' AND ${text} GROUP BY 1 ORDER BY 1`;
	return runNamed(sql, whole, values);
}
