// Table "approvals": tool calls that a person has to approve before they run. Every change of a state is one conditional
// statement, so that a call runs at most once.

import type { Migration } from "./database/migrations.ts";
import { many, type Sql } from "./database/statement.ts";

/**
 * "approved": the call is being checked once more, and nothing was changed yet. "running": the call may have changed
 * something. "unknown": the bot was stopped while the call ran.
 */
export type ApprovalState =
	| "pending"
	| "approved"
	| "running"
	| "denied"
	| "expired"
	| "done"
	| "failed"
	| "unknown";

export interface ApprovalRow {
	/** Id of the request: 12 hexadecimal digits. */
	id: string;
	/** Id of the principal whose call it is. "root" for a caller without limits. */
	principal_id: string;
	/** The principal as JSON; null for a caller without limits. */
	principal: string | null;
	/** Name of the MCP client, as it states itself; "" if unknown. */
	client: string;
	/** Id of the MCP request, for logs; null if there is none. */
	request_id: string | null;
	tool: string;
	/** Guild of the call, also if the call omits it; null if there is none. */
	guild_id: string | null;
	/** The arguments as JSON, with sorted keys. */
	arguments: string;
	/** What is shown of the call's dry run: JSON of a list of lines, or null. */
	plan: string;
	/** Hash of what was shown. */
	hash: string;
	/** Identifies the message in which the plan was shown. A button of another message decides nothing. */
	token: string;
	state: ApprovalState;
	channel_id: string;
	/** Id of the message; null until it is known to exist. */
	message_id: string | null;
	/** State that the message shows. */
	shown_state: ApprovalState;
	/** Id of the Discord user who approved or denied; null if nobody has. */
	decided_by: string | null;
	/** In epoch milliseconds. */
	created_at: number;
	/** In epoch milliseconds. */
	expires_at: number;
	/** In epoch milliseconds; null while nobody has decided. */
	decided_at: number | null;
	/** In epoch milliseconds; null while the request is open. */
	ended_at: number | null;
	/** The result of the tool call as JSON; null if there is none. */
	result: string | null;
}

export const approvalsTable: Migration = {
	number: 15,
	name: "approvals",
	text: `
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
		CREATE INDEX approvals_by_end ON approvals (ended_at)`,
};

/**
 * Stores a request unless its principal has `max` open ones. Returns whether it was stored. Run it in a transaction.
 */
export async function insertApproval(
	sql: Sql,
	row: ApprovalRow,
	max: number,
): Promise<boolean> {
	const open = await sql`
		SELECT id FROM approvals
		WHERE principal_id = ${row.principal_id} AND ended_at IS NULL LIMIT ${max}`;
	if (open.length >= max) return false;
	await sql`INSERT INTO approvals ${many([{ ...row }])}`;
	return true;
}

/**
 * Stores a request that was decided at the MCP client: "running", after which its call may change something, or
 * "denied". Returns false if it was stored before: then nothing may be done.
 */
export async function insertDecided(
	sql: Sql,
	row: ApprovalRow,
): Promise<boolean> {
	const rows = await sql`
		INSERT INTO approvals ${many([{ ...row }])}
		ON CONFLICT (id) DO NOTHING RETURNING id`;
	return rows.length > 0;
}

export async function selectApproval(
	sql: Sql,
	id: string,
): Promise<ApprovalRow | undefined> {
	const [row] =
		await sql<ApprovalRow>`SELECT * FROM approvals WHERE id = ${id}`;
	return row;
}

/** Returns the requests of a principal, the newest first. */
export function selectApprovalsOf(
	sql: Sql,
	principalId: string,
	limit: number,
): Promise<ApprovalRow[]> {
	return sql<ApprovalRow>`
		SELECT * FROM approvals WHERE principal_id = ${principalId}
		ORDER BY created_at DESC, id LIMIT ${limit}`;
}

/** Returns the open requests, and those whose messages do not show how they ended. Oldest first. */
export function selectUnfinishedApprovals(sql: Sql): Promise<ApprovalRow[]> {
	return sql<ApprovalRow>`
		SELECT * FROM approvals
		WHERE ended_at IS NULL OR (shown_state <> state AND message_id IS NOT NULL)
		ORDER BY created_at, id`;
}

/** Stores the message with a plan. `token` identifies the plan. */
export async function setApprovalMessage(
	sql: Sql,
	{ id, token }: Pick<ApprovalRow, "id" | "token">,
	messageId: string,
): Promise<void> {
	await sql`
		UPDATE approvals SET message_id = ${messageId}
		WHERE id = ${id} AND token = ${token}`;
}

export async function setShownState(
	sql: Sql,
	id: string,
	state: ApprovalState,
): Promise<void> {
	await sql`UPDATE approvals SET shown_state = ${state} WHERE id = ${id}`;
}

/**
 * Stores the decision of a person about a request, unless it has been decided, has expired at `now`, or shows another
 * plan by now. Returns the request; undefined if nothing was stored.
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

/** Notes that an approved call may change something from now on. Returns false if it must not. */
export async function beginApproved(sql: Sql, id: string): Promise<boolean> {
	const rows = await sql`
		UPDATE approvals SET state = ${"running"}
		WHERE id = ${id} AND state = ${"approved"} RETURNING id`;
	return rows.length > 0;
}

/** Lets people decide again about a request whose approved call has certainly changed nothing. */
export async function reopenApproval(
	sql: Sql,
	id: string,
	from: readonly ApprovalState[],
): Promise<void> {
	await sql`
		UPDATE approvals SET state = ${"pending"}, decided_by = NULL, decided_at = NULL
		WHERE id = ${id} AND state IN ${many(from)}`;
}

/** Replaces the plan of an approved request, about which people decide again. Returns undefined if it is not approved. */
export async function replacePlan(
	sql: Sql,
	{
		id,
		plan,
		hash,
		token,
	}: Pick<ApprovalRow, "id" | "plan" | "hash" | "token">,
): Promise<ApprovalRow | undefined> {
	const [row] = await sql<ApprovalRow>`
		UPDATE approvals SET state = ${"pending"}, plan = ${plan}, hash = ${hash}, token = ${token},
			message_id = NULL, decided_by = NULL, decided_at = NULL
		WHERE id = ${id} AND state = ${"approved"} RETURNING *`;
	return row;
}

/**
 * Ends a request that is in one of the states `from` and has this token. Returns the request; undefined if it is in
 * another state.
 */
export async function endApproval(
	sql: Sql,
	{ id, token }: Pick<ApprovalRow, "id" | "token">,
	from: readonly ApprovalState[],
	{
		state,
		result,
		ended_at,
	}: Pick<ApprovalRow, "state" | "result" | "ended_at">,
): Promise<ApprovalRow | undefined> {
	const [row] = await sql<ApprovalRow>`
		UPDATE approvals SET state = ${state}, result = ${result}, ended_at = ${ended_at}
		WHERE id = ${id} AND token = ${token} AND state IN ${many(from)} RETURNING *`;
	return row;
}

/** Ends a pending request without a message. Returns the request; undefined if it has a message or is not pending. */
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

/** Deletes requests that ended before `instant` (epoch milliseconds). Returns how many. */
export async function deleteApprovalsBefore(
	sql: Sql,
	instant: number,
): Promise<number> {
	const deleted = await sql`
		DELETE FROM approvals WHERE ended_at < ${instant} RETURNING id`;
	return deleted.length;
}
