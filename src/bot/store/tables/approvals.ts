// Table "approvals": tool calls that a person has to approve before they run. Every change of a state is one conditional
// statement, so that a call runs at most once. Table "secrets": random keys that the bot makes for itself and needs again after a
// restart. Times are in epoch milliseconds.

import type { RowOf } from "../../../lib/store/row.ts";
import { many, rowsOf, type Sql } from "../../../lib/store/statement.ts";

export const approvalTables = `
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
		summary TEXT NOT NULL,
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
	CREATE INDEX approvals_by_end ON approvals (ended_at);
	CREATE TABLE secrets (
		name TEXT NOT NULL PRIMARY KEY,
		value TEXT NOT NULL
	)`;

/** "approved": checked again, nothing changed yet. "unknown": stopped while running. "withdrawn": the key ended. */
const states = [
	"pending",
	"approved",
	"running",
	"denied",
	"expired",
	"withdrawn",
	"done",
	"failed",
	"unknown",
] as const;

export type ApprovalState = (typeof states)[number];

export interface ApprovalRow extends RowOf<typeof approvalTables, "approvals"> {
	/** 12 hexadecimal digits. */
	id: string;
	/** "root" for the holder of the root key. */
	principal_id: string;
	/** JSON; null for the holder of the root key. */
	principal: string | null;
	/** As the client itself states it; "" if unknown. */
	client: string;
	/** Guild in which the call would act, even without an argument `guild_id`. */
	guild_id: string | null;
	/** JSON with sorted keys. */
	arguments: string;
	/** JSON array of lines; "null" if the tool has no dry run. */
	plan: string;
	/** What people read of the dry run, in the language of the channel; "" if it is for models alone. */
	summary: string;
	/** Hash of tool, arguments, guild and plan. */
	hash: string;
	/** Random; buttons of messages with another token do nothing. */
	token: string;
	state: ApprovalState;
	shown_state: ApprovalState;
	/** Run, denied, expired or failed; null while the request is open. */
	ended_at: number | null;
}

export const approvalRows = rowsOf<ApprovalRow, "id">("approvals", ["id"]);

/** False if the principal already has `max` open ones. Must run in a transaction. */
export async function insertApproval(sql: Sql, row: ApprovalRow, max: number): Promise<boolean> {
	if ((await approvalRows.count(sql, { principal_id: row.principal_id, ended_at: null })) >= max) return false;
	await approvalRows.insert(sql, [row]);
	return true;
}

/**
 * How many questions of the principal were denied at the MCP client and could still be answered. Of the older denials, only the
 * newest `max` are kept.
 */
export async function countDenials(sql: Sql, principalId: string, now: number, max: number): Promise<number> {
	const denied = { principal_id: principalId, state: "denied", channel_id: "" } as const;
	const rows = await approvalRows.all(sql, denied, "created_at DESC, id");
	const old = rows.slice(max).filter(({ expires_at }) => expires_at <= now);
	if (old.length > 0) await sql`DELETE FROM approvals WHERE id IN ${many(old.map(({ id }) => id))}`;
	return rows.filter(({ expires_at }) => expires_at > now).length;
}

/** Oldest first: the open ones, and ended ones whose messages do not show the end yet. */
export function selectUnfinishedApprovals(sql: Sql): Promise<ApprovalRow[]> {
	return sql<ApprovalRow>`
		SELECT * FROM approvals
		WHERE ended_at IS NULL OR (shown_state <> state AND message_id IS NOT NULL)
		ORDER BY created_at, id`;
}

/** Undefined, and nothing changes, unless the request still has this token and one of the states. Default: any. */
export function changeApproval(
	sql: Sql,
	{ id, token }: Pick<ApprovalRow, "id" | "token">,
	changes: Partial<Omit<ApprovalRow, "id" | "principal_id" | "tool" | "arguments">>,
	state: readonly ApprovalState[] = states,
): Promise<ApprovalRow | undefined> {
	return approvalRows.change(sql, { id }, changes, { token, state });
}

/** Only requests that have changed nothing yet. */
export function withdrawApprovals(sql: Sql, principalIds: readonly string[], now: number): Promise<ApprovalRow[]> {
	return sql<ApprovalRow>`
		UPDATE approvals SET state = ${"withdrawn"}, ended_at = ${now}
		WHERE principal_id IN ${many(principalIds)} AND state IN ${many(["pending", "approved"])} RETURNING *`;
}

export async function loadSecret(sql: Sql, name: string, fresh: string): Promise<string> {
	await sql`INSERT INTO secrets (name, value) VALUES (${name}, ${fresh}) ON CONFLICT (name) DO NOTHING`;
	const [row] = await sql<{ value: string }>`SELECT value FROM secrets WHERE name = ${name}`;
	if (!row) throw new Error(`the secret ${name} was not stored`);
	return row.value;
}
