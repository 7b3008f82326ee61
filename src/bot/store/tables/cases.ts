// Tables "cases" and "case_edits": the actions of moderators and of the bot, and later changes to these records. Rows
// are never deleted, so the case numbers of a guild have no gaps.

import { inBatches, many, type Sql } from "../../../lib/store/statement.ts";

const maxBatch = 50;

/**
 * Outcome of an action. "asked": the action may still be running, or the bot was stopped before the outcome was known.
 */
export type CaseState = "asked" | "done" | "not done" | "unknown";

/** Whether the person was told about the action by direct message. "asked": the message was about to be sent. */
export type Told = "asked" | "yes" | "failed";

export interface CaseRow {
	guild_id: string;
	/** Number of the case in its guild, from 1. */
	number: number;
	/** Id of the person that the action concerns; null if it concerns no single person but a channel or the guild. */
	user_id: string | null;
	/** Id of the person who acted, or of the bot. */
	moderator_id: string;
	/** Name of the MCP client through which the action was taken; null if a person acted on Discord. */
	client: string | null;
	action: string;
	reason: string | null;
	/** When the action was taken, in epoch milliseconds. */
	created_at: number;
	/** When the action expires, in epoch milliseconds; null if it does not expire. */
	ends_at: number | null;
	state: CaseState;
	/** Error message if the action failed; null if it succeeded. */
	why: string | null;
	/** Ids of the messages that the action is about, as a JSON array. */
	message_ids: string;
	/** Ids of the channels that the action concerns, as a JSON array. */
	channel_ids: string;
	/** Details of the change, as ids, numbers or names of settings; null if there are none. */
	detail: string | null;
	/** Whether the person was told by direct message; null if that was not requested. */
	told: Told | null;
	/**
	 * What the case was created from, such as the id of an entry in Discord's audit log. Unique in a guild, so that no
	 * second case is created from it. Null if duplicates are impossible.
	 */
	source: string | null;
	/** When the case was deleted from the record, in epoch milliseconds; null if it was not. */
	deleted_at: number | null;
}

/** A later change of a case, such as of its reason. */
export interface CaseEdit {
	guild_id: string;
	number: number;
	/** Number of the change of this case, from 1. */
	edit: number;
	/** When the case was changed, in epoch milliseconds. */
	at: number;
	/** Id of the person who changed the case, or of the bot. */
	editor_id: string;
	what: "reason" | "delete" | "restore";
	/** The reason before the change; null if there was none, or if another thing was changed. */
	before: string | null;
}

export const casesTables = `
	CREATE TABLE cases (
		guild_id TEXT NOT NULL,
		number BIGINT NOT NULL,
		user_id TEXT,
		moderator_id TEXT NOT NULL,
		client TEXT,
		action TEXT NOT NULL,
		reason TEXT,
		created_at BIGINT NOT NULL,
		ends_at BIGINT,
		state TEXT NOT NULL,
		why TEXT,
		message_ids TEXT NOT NULL,
		channel_ids TEXT NOT NULL,
		detail TEXT,
		told TEXT,
		source TEXT,
		deleted_at BIGINT,
		PRIMARY KEY (guild_id, number)
	);
	CREATE UNIQUE INDEX cases_by_source ON cases (guild_id, source);
	CREATE INDEX cases_by_time ON cases (guild_id, created_at, number) WHERE number > 0;
	CREATE INDEX cases_of_user ON cases (guild_id, user_id, created_at, number);
	CREATE INDEX cases_of_moderator ON cases (guild_id, moderator_id, created_at, number);
	CREATE INDEX cases_of_action ON cases (guild_id, action, created_at, number);
	CREATE INDEX cases_asked ON cases (created_at) WHERE state = 'asked';
	CREATE TABLE case_edits (
		guild_id TEXT NOT NULL,
		number BIGINT NOT NULL,
		edit BIGINT NOT NULL,
		at BIGINT NOT NULL,
		editor_id TEXT NOT NULL,
		what TEXT NOT NULL,
		before TEXT,
		PRIMARY KEY (guild_id, number, edit)
	)`;

/**
 * Stores cases of one guild, gives them the next case numbers, and returns them with these numbers. Skips cases whose
 * `source` is already stored. Must run in a transaction.
 */
export async function insertCases(
	sql: Sql,
	guildId: string,
	cases: readonly Omit<CaseRow, "guild_id" | "number">[],
): Promise<CaseRow[]> {
	const [last] = await sql<{ last: number | null }>`
		SELECT MAX(number) AS last FROM cases WHERE guild_id = ${guildId}`;
	let number = last?.last ?? 0;
	const numbered = cases.map((one) => {
		number += 1;
		return { ...one, guild_id: guildId, number };
	});
	if (cases.every(({ source }) => source === null)) {
		for (const rows of inBatches(numbered, maxBatch)) await sql`INSERT INTO cases ${many(rows)}`;
		return numbered;
	}
	number = last?.last ?? 0;
	const stored: CaseRow[] = [];
	for (const one of cases) {
		const row = { ...one, guild_id: guildId, number: number + 1 };
		// Cases are inserted one by one, because a skipped case must not leave a gap in the numbers.
		const [inserted] = await sql`
			INSERT INTO cases ${many([{ ...row }])}
			ON CONFLICT (guild_id, source) DO NOTHING RETURNING number`;
		if (!inserted) continue;
		number += 1;
		stored.push(row);
	}
	return stored;
}

export async function selectCase(sql: Sql, guildId: string, number: number): Promise<CaseRow | undefined> {
	const [row] = await sql<CaseRow>`
		SELECT * FROM cases WHERE guild_id = ${guildId} AND number = ${number}`;
	return row;
}

export async function selectCaseBySource(sql: Sql, guildId: string, source: string): Promise<CaseRow | undefined> {
	const [row] = await sql<CaseRow>`
		SELECT * FROM cases WHERE guild_id = ${guildId} AND source = ${source}`;
	return row;
}

/**
 * Stores the outcome of an action. Returns the changed case; undefined if the outcome was stored before, which is kept.
 */
export async function settleCase(
	sql: Sql,
	guildId: string,
	number: number,
	{ state, why }: Pick<CaseRow, "state" | "why">,
): Promise<CaseRow | undefined> {
	const [row] = await sql<CaseRow>`
		UPDATE cases SET state = ${state}, why = ${why}
		WHERE guild_id = ${guildId} AND number = ${number} AND state = 'asked' RETURNING *`;
	return row;
}

export async function setTold(sql: Sql, guildId: string, number: number, told: Told): Promise<void> {
	await sql`
		UPDATE cases SET told = ${told} WHERE guild_id = ${guildId} AND number = ${number}`;
}

/** Stores the messages and channels that an action really affected, such as the messages that were deleted. */
export async function setCaseMessages(
	sql: Sql,
	guildId: string,
	number: number,
	{ message_ids, channel_ids, detail }: Pick<CaseRow, "message_ids" | "channel_ids" | "detail">,
): Promise<void> {
	await sql`
		UPDATE cases SET message_ids = ${message_ids}, channel_ids = ${channel_ids}, detail = ${detail}
		WHERE guild_id = ${guildId} AND number = ${number}`;
}

/**
 * Returns the cases without a known outcome that come from tool calls and escalation rules, oldest first, at most
 * `limit`. For cases from other sources, the code that created them stores the outcome.
 */
export function selectAskedCases(sql: Sql, limit: number): Promise<CaseRow[]> {
	return sql<CaseRow>`
		SELECT * FROM cases WHERE state = 'asked' AND (source IS NULL OR source LIKE 'rule:%')
		ORDER BY created_at LIMIT ${limit}`;
}

/** Filter for the cases of a guild. Undefined properties match all cases. Deleted cases are never selected. */
export interface CaseFilter {
	userId?: string | undefined;
	moderatorId?: string | undefined;
	action?: string | undefined;
	/** Selects cases at or after this time, in epoch milliseconds. */
	from?: number | undefined;
	/** Selects cases before this time, in epoch milliseconds. */
	until?: number | undefined;
}

/** Number of a moderator's cases with one action. */
export interface ModeratorCount {
	moderator_id: string;
	action: string;
	count: number;
}

/** Position in the list of cases: a page starts after this case. */
export type CasePosition = Pick<CaseRow, "created_at" | "number">;

/**
 * Returns the cases of a guild that match `filter`, newest first, at most `limit`, starting after the case `before`.
 */
export function selectCases(
	sql: Sql,
	guildId: string,
	filter: CaseFilter,
	{ limit, before }: { limit: number; before?: CasePosition | undefined },
): Promise<CaseRow[]> {
	const { userId, moderatorId, action, from = 0 } = filter;
	const { until = Number.MAX_SAFE_INTEGER } = filter;
	const { created_at: at, number } = before && before.created_at < until ? before : { created_at: until, number: 0 };
	// There is one statement per index, because neither database would use an index for a combined statement.
	if (userId !== undefined)
		return sql<CaseRow>`
			SELECT * FROM cases
			WHERE guild_id = ${guildId} AND user_id = ${userId} AND created_at >= ${from}
				AND (created_at, number) < (${at}, ${number}) AND deleted_at IS NULL
				AND (CAST(${moderatorId ?? null} AS TEXT) IS NULL OR moderator_id = ${moderatorId ?? null})
				AND (CAST(${action ?? null} AS TEXT) IS NULL OR action = ${action ?? null})
			ORDER BY created_at DESC, number DESC LIMIT ${limit}`;
	if (moderatorId !== undefined)
		return sql<CaseRow>`
			SELECT * FROM cases
			WHERE guild_id = ${guildId} AND moderator_id = ${moderatorId} AND created_at >= ${from}
				AND (created_at, number) < (${at}, ${number}) AND deleted_at IS NULL
				AND (CAST(${action ?? null} AS TEXT) IS NULL OR action = ${action ?? null})
			ORDER BY created_at DESC, number DESC LIMIT ${limit}`;
	if (action !== undefined)
		return sql<CaseRow>`
			SELECT * FROM cases
			WHERE guild_id = ${guildId} AND action = ${action} AND created_at >= ${from}
				AND (created_at, number) < (${at}, ${number}) AND deleted_at IS NULL
			ORDER BY created_at DESC, number DESC LIMIT ${limit}`;
	// The condition "number > 0" makes SQLite use the right index here. Without it, SQLite would use this index for the
	// other queries, too.
	return sql<CaseRow>`
		SELECT * FROM cases
		WHERE guild_id = ${guildId} AND number > 0 AND created_at >= ${from}
			AND (created_at, number) < (${at}, ${number}) AND deleted_at IS NULL
		ORDER BY created_at DESC, number DESC LIMIT ${limit}`;
}

/**
 * Returns the number of a person's cases by action. Counts only actions that were carried out, and no deleted cases.
 */
export function countCasesOf(sql: Sql, guildId: string, userId: string): Promise<{ action: string; count: number }[]> {
	// The expressions (action || '') are in no index, so SQLite uses the index of people, which is the best one here.
	return sql<{ action: string; count: number }>`
		SELECT action || '' AS action, COUNT(*) AS count FROM cases
		WHERE guild_id = ${guildId} AND user_id = ${userId} AND state = 'done' AND deleted_at IS NULL
		GROUP BY action || '' ORDER BY action || ''`;
}

/** Returns the number of cases that match the filter and were carried out, by moderator and action. */
export function countCasesByModerator(
	sql: Sql,
	guildId: string,
	{ moderatorId, action, from = 0, until }: Omit<CaseFilter, "userId">,
): Promise<ModeratorCount[]> {
	// Expressions are in no index: the index of time is the best one. "number > 0" selects it, as for pages.
	return sql<ModeratorCount>`
		SELECT moderator_id || '' AS moderator_id, action || '' AS action, COUNT(*) AS count FROM cases
		WHERE guild_id = ${guildId} AND number > 0 AND created_at >= ${from}
			AND created_at < ${until ?? Number.MAX_SAFE_INTEGER} AND state = 'done' AND deleted_at IS NULL
			AND (CAST(${moderatorId ?? null} AS TEXT) IS NULL OR moderator_id || '' = ${moderatorId ?? null})
			AND (CAST(${action ?? null} AS TEXT) IS NULL OR action || '' = ${action ?? null})
		GROUP BY moderator_id || '', action || '' ORDER BY moderator_id || '', action || ''`;
}

/**
 * Returns the number of a person's cases with one action, created at or after `from` (epoch milliseconds). Counts only
 * actions that were carried out.
 */
export async function countCasesSince(
	sql: Sql,
	guildId: string,
	userId: string,
	action: string,
	from: number,
): Promise<number> {
	// The expression is in no index, so SQLite uses the index of people, which is the best one here.
	const [row] = await sql<{ count: number }>`
		SELECT COUNT(*) AS count FROM cases
		WHERE guild_id = ${guildId} AND user_id = ${userId} AND created_at >= ${from}
			AND action || '' = ${action} AND state = 'done' AND deleted_at IS NULL`;
	return row?.count ?? 0;
}

/** Changes a case, and stores its previous value in the case's history. Must run in a transaction. */
export async function editCase(
	sql: Sql,
	edit: Omit<CaseEdit, "edit">,
	after: Pick<CaseRow, "reason" | "deleted_at">,
): Promise<void> {
	const { guild_id, number } = edit;
	const [last] = await sql<{ last: number | null }>`
		SELECT MAX(edit) AS last FROM case_edits WHERE guild_id = ${guild_id} AND number = ${number}`;
	const row = { ...edit, edit: (last?.last ?? 0) + 1 };
	await sql`INSERT INTO case_edits ${many([row])}`;
	await sql`
		UPDATE cases SET reason = ${after.reason}, deleted_at = ${after.deleted_at}
		WHERE guild_id = ${guild_id} AND number = ${number}`;
}

/** Returns the latest changes of a case, newest first, at most `limit`. */
export function selectCaseEdits(sql: Sql, guildId: string, number: number, limit: number): Promise<CaseEdit[]> {
	return sql<CaseEdit>`
		SELECT * FROM case_edits WHERE guild_id = ${guildId} AND number = ${number}
		ORDER BY edit DESC LIMIT ${limit}`;
}

/**
 * Returns the reasons of the latest `limit` cases of one moderator, or of all moderators, newest first. Leaves out
 * notes, which only people with access to cases may read, and actions of the bot under the operator's rules.
 */
export async function selectReasons(
	sql: Sql,
	guildId: string,
	moderatorId: string | undefined,
	limit: number,
): Promise<string[]> {
	const rows = await selectCases(sql, guildId, { moderatorId }, { limit });
	const isByPeople = ({ action, source }: CaseRow) =>
		action !== "note" && (source === null || source.startsWith("entry:"));
	return rows.filter(isByPeople).flatMap(({ reason }) => reason ?? []);
}
