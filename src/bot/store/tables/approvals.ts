// Table "approvals": tool calls that a person has to approve before they run. Every change of a state is one conditional
// statement, so that a call runs at most once.

import { many, type Sql } from "../../../lib/store/statement.ts";

/**
 * State of a request for approval. "approved": the call is being checked again and has changed nothing yet. "running":
 * the call may have changed something. "unknown": the bot was stopped while the call was running. "withdrawn": the key or
 * connection that asked has ended.
 */
export type ApprovalState =
	| "pending"
	| "approved"
	| "running"
	| "denied"
	| "expired"
	| "withdrawn"
	| "done"
	| "failed"
	| "unknown";

export interface ApprovalRow {
	/** Id of the request for approval: 12 hexadecimal digits. */
	id: string;
	/** Id of the principal (caller) that made the tool call; "root" for the holder of the root key. */
	principal_id: string;
	/** The principal (caller) who made the tool call, as JSON; null for the holder of the root key. */
	principal: string | null;
	/** Name of the MCP client, as the client itself states it; "" if unknown. */
	client: string;
	/** Id of the tool call in log messages; null if there is none. */
	request_id: string | null;
	tool: string;
	/**
	 * Id of the guild in which the call would act, even if the call has no argument `guild_id`; null if it acts in no
	 * guild.
	 */
	guild_id: string | null;
	/** Arguments of the tool call as JSON with sorted keys. */
	arguments: string;
	/** What the tool call would do, as shown to people: a JSON array of lines; "null" if the tool has no dry run. */
	plan: string;
	/** Hash of what is to be approved: tool, arguments, guild and plan. */
	hash: string;
	/** Random token of the message that shows the current plan. Buttons of messages with another token do nothing. */
	token: string;
	state: ApprovalState;
	channel_id: string;
	/** Id of the Discord message that asks for the approval; null until the message was posted. */
	message_id: string | null;
	/** The state of the request that its Discord message shows. */
	shown_state: ApprovalState;
	/** Id of the Discord user who approved or denied the call; null if nobody on Discord has decided. */
	decided_by: string | null;
	/** When the tool call was made, in epoch milliseconds. */
	created_at: number;
	/** Until when people can approve or deny the tool call, in epoch milliseconds. */
	expires_at: number;
	/** When a person approved or denied the call, in epoch milliseconds; null while nobody has decided. */
	decided_at: number | null;
	/**
	 * When the request ended: the call was run or denied, or the request expired or failed. In epoch milliseconds; null
	 * while the request is open.
	 */
	ended_at: number | null;
	/** The result of the tool call as JSON text; null if there is none. */
	result: string | null;
}

export const approvalsTable = `
	CREATE TABLE approvals (
		id TEXT NOT NULL PRIMARY KEY,
		principal_id TEXT NOT NULL,
		principal TEXT,
		client TEXT NOT NULL,
		request_id TEXT,
		tool TEXT NOT NULL,
		guild_id TEXT,
		arguments TEXT NOT NULL,
		plan TEXT NOT NULL,
		hash TEXT NOT NULL,
		token TEXT NOT NULL,
		state TEXT NOT NULL,
		channel_id TEXT NOT NULL,
		message_id TEXT,
		shown_state TEXT NOT NULL,
		decided_by TEXT,
		created_at BIGINT NOT NULL,
		expires_at BIGINT NOT NULL,
		decided_at BIGINT,
		ended_at BIGINT,
		result TEXT
	);
	CREATE INDEX approvals_of_principal ON approvals (principal_id, created_at);
	CREATE INDEX approvals_by_end ON approvals (ended_at)`;

/**
 * Stores a request for approval, unless its principal (caller) already has `max` open ones. Returns whether the request
 * was stored. Must run in a transaction.
 */
export async function insertApproval(sql: Sql, row: ApprovalRow, max: number): Promise<boolean> {
	const open = await sql`
		SELECT id FROM approvals
		WHERE principal_id = ${row.principal_id} AND ended_at IS NULL LIMIT ${max}`;
	if (open.length >= max) return false;
	await sql`INSERT INTO approvals ${many([{ ...row }])}`;
	return true;
}

/**
 * Stores a request that the user of the MCP client has decided: its state is "running" if approved, otherwise "denied".
 * Returns false if a request with this id is stored already; the call must then not be run.
 */
export async function insertDecided(sql: Sql, row: ApprovalRow): Promise<boolean> {
	const rows = await sql`
		INSERT INTO approvals ${many([{ ...row }])}
		ON CONFLICT (id) DO NOTHING RETURNING id`;
	return rows.length > 0;
}

export async function selectApproval(sql: Sql, id: string): Promise<ApprovalRow | undefined> {
	const [row] = await sql<ApprovalRow>`SELECT * FROM approvals WHERE id = ${id}`;
	return row;
}

/** Returns the latest requests for approval of a principal (caller), newest first. */
export function selectApprovalsOf(sql: Sql, principalId: string, limit: number): Promise<ApprovalRow[]> {
	return sql<ApprovalRow>`
		SELECT * FROM approvals WHERE principal_id = ${principalId}
		ORDER BY created_at DESC, id LIMIT ${limit}`;
}

/**
 * Returns, oldest first, the open requests for approval, and the ended ones whose Discord messages do not show the end
 * yet.
 */
export function selectUnfinishedApprovals(sql: Sql): Promise<ApprovalRow[]> {
	return sql<ApprovalRow>`
		SELECT * FROM approvals
		WHERE ended_at IS NULL OR (shown_state <> state AND message_id IS NOT NULL)
		ORDER BY created_at, id`;
}

/**
 * Stores the id of the Discord message that asks for an approval, if the message with this `token` is still the current
 * one.
 */
export async function setApprovalMessage(
	sql: Sql,
	{ id, token }: Pick<ApprovalRow, "id" | "token">,
	messageId: string,
): Promise<void> {
	await sql`
		UPDATE approvals SET message_id = ${messageId}
		WHERE id = ${id} AND token = ${token}`;
}

export async function setShownState(sql: Sql, id: string, state: ApprovalState): Promise<void> {
	await sql`UPDATE approvals SET shown_state = ${state} WHERE id = ${id}`;
}

/**
 * Stores that a Discord user has approved or denied a call. Returns the updated request. Returns undefined and stores
 * nothing if the request was already decided, has expired at `now`, or now shows another plan than the one with this
 * `token`.
 */
export async function decideApproval(
	sql: Sql,
	{ id, token }: Pick<ApprovalRow, "id" | "token">,
	state: "approved" | "denied",
	userId: string,
	now: number,
): Promise<ApprovalRow | undefined> {
	const ended = state === "denied" ? now : null;
	const [row] = await sql<ApprovalRow>`
		UPDATE approvals SET state = ${state}, decided_by = ${userId}, decided_at = ${now}, ended_at = ${ended}
		WHERE id = ${id} AND token = ${token} AND state = ${"pending"} AND expires_at > ${now}
		RETURNING *`;
	return row;
}

/**
 * Stores that an approved call is running and may change something from now on. Returns false if the call must not run,
 * because the request is not in the state "approved".
 */
export async function beginApproved(sql: Sql, id: string): Promise<boolean> {
	const rows = await sql`
		UPDATE approvals SET state = ${"running"}
		WHERE id = ${id} AND state = ${"approved"} RETURNING id`;
	return rows.length > 0;
}

/**
 * Makes a request pending again, so that people can approve or deny it once more. Only for requests whose call has
 * certainly changed nothing. Does nothing unless the request is in one of the states `from`.
 */
export async function reopenApproval(sql: Sql, id: string, from: readonly ApprovalState[]): Promise<void> {
	await sql`
		UPDATE approvals SET state = ${"pending"}, decided_by = NULL, decided_at = NULL
		WHERE id = ${id} AND state IN ${many(from)}`;
}

/**
 * Stores a new plan for an approved request, and makes the request pending again so that people decide about the new
 * plan. Returns undefined if the request is not in the state "approved".
 */
export async function replacePlan(
	sql: Sql,
	{ id, plan, hash, token }: Pick<ApprovalRow, "id" | "plan" | "hash" | "token">,
): Promise<ApprovalRow | undefined> {
	const [row] = await sql<ApprovalRow>`
		UPDATE approvals SET state = ${"pending"}, plan = ${plan}, hash = ${hash}, token = ${token},
			message_id = NULL, decided_by = NULL, decided_at = NULL
		WHERE id = ${id} AND state = ${"approved"} RETURNING *`;
	return row;
}

/**
 * Ends the request for approval with this `id` and `token`, if it is in one of the states `from`. Returns the updated
 * request, otherwise undefined.
 */
export async function endApproval(
	sql: Sql,
	{ id, token }: Pick<ApprovalRow, "id" | "token">,
	from: readonly ApprovalState[],
	{ state, result, ended_at }: Pick<ApprovalRow, "state" | "result" | "ended_at">,
): Promise<ApprovalRow | undefined> {
	const [row] = await sql<ApprovalRow>`
		UPDATE approvals SET state = ${state}, result = ${result}, ended_at = ${ended_at}
		WHERE id = ${id} AND token = ${token} AND state IN ${many(from)} RETURNING *`;
	return row;
}

/**
 * Ends a pending request for approval that has no Discord message. Returns the updated request; undefined if the
 * request has a message or is not pending.
 */
export async function endUnposted(
	sql: Sql,
	id: string,
	{ result, ended_at }: Pick<ApprovalRow, "result" | "ended_at">,
): Promise<ApprovalRow | undefined> {
	const [row] = await sql<ApprovalRow>`
		UPDATE approvals SET state = ${"failed"}, result = ${result}, ended_at = ${ended_at}
		WHERE id = ${id} AND state = ${"pending"} AND message_id IS NULL RETURNING *`;
	return row;
}

/** Ends the requests of these principals (callers) that have changed nothing yet. Returns the updated requests. */
export function withdrawApprovals(sql: Sql, principalIds: readonly string[], now: number): Promise<ApprovalRow[]> {
	return sql<ApprovalRow>`
		UPDATE approvals SET state = ${"withdrawn"}, ended_at = ${now}
		WHERE principal_id IN ${many(principalIds)} AND state IN ${many(["pending", "approved"])} RETURNING *`;
}

/** Deletes requests for approval that ended before `instant` (epoch milliseconds), and returns their number. */
export async function deleteApprovalsBefore(sql: Sql, instant: number): Promise<number> {
	const deleted = await sql`
		DELETE FROM approvals WHERE ended_at < ${instant} RETURNING id`;
	return deleted.length;
}
