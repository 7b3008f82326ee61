// Tables "cases" and "case_edits": the actions of moderators and of the bot, and later changes to these records. Old
// rows are deleted only if the guild wants that, and never the newest. Times are in epoch milliseconds.

import type { RowOf } from "../../../lib/store/row.ts";
import { inBatches, many, rowsOf, runNamed, type Sql } from "../../../lib/store/statement.ts";

const maxBatch = 50;

/** "asked": may still be running, or the bot was stopped before the outcome was known. */
export type CaseState = "asked" | "done" | "not done" | "unknown";

/** "asked": the direct message was about to be sent. */
export type Told = "asked" | "yes" | "failed";

export interface CaseRow extends RowOf<typeof casesTables, "cases"> {
	/** From 1 in each guild. */
	number: number;
	/** Null if the action concerns a channel or the guild. */
	user_id: string | null;
	/** Name of the MCP client; null if a person acted on Discord. */
	client: string | null;
	state: CaseState;
	/** For people: a message (JSON). Null without one. */
	why_said: string | null;
	/** JSON array. */
	message_ids: string;
	/** JSON array. */
	channel_ids: string;
	/** JSON array of messages: mentions, numbers or settings. */
	detail: string;
	told: Told | null;
	/** Origin, such as an audit log entry; unique in a guild against duplicates. Null if those are impossible. */
	source: string | null;
	/** Of its entry in the moderation log, which has the evidence. Null without one. */
	entry_id: string | null;
}

export interface CaseEdit extends RowOf<typeof casesTables, "case_edits"> {
	what: "reason" | "delete" | "restore";
	/** Null if there was no reason, or if another thing was changed. */
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
		why_said TEXT,
		message_ids TEXT NOT NULL,
		channel_ids TEXT NOT NULL,
		detail TEXT NOT NULL,
		told TEXT,
		source TEXT,
		deleted_at BIGINT,
		entry_channel_id TEXT,
		entry_id TEXT,
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

export const caseRows = rowsOf<CaseRow, "guild_id" | "number">("cases", ["guild_id", "number"]);

export const caseEditRows = rowsOf<CaseEdit, "guild_id" | "number" | "edit">("case_edits", [
	"guild_id",
	"number",
	"edit",
]);

/** Returns them with their new numbers, without those whose `source` is stored already. Must run in a transaction. */
export async function insertCases(
	sql: Sql,
	guildId: string,
	cases: readonly Omit<CaseRow, "guild_id" | "number">[],
): Promise<CaseRow[]> {
	const sources = cases.flatMap(({ source }) => source ?? []);
	const known = await selectSources(sql, guildId, sources);
	// A skipped case must not leave a gap in the numbers.
	const added = cases.filter(({ source }) => source === null || (!known.has(source) && known.set(source, 0)));
	const [row] = await sql<{ last: number | null }>`SELECT MAX(number) AS last FROM cases WHERE guild_id = ${guildId}`;
	const numbered = added.map((one, index) => ({ ...one, guild_id: guildId, number: (row?.last ?? 0) + 1 + index }));
	for (const rows of inBatches(numbered, maxBatch)) await sql`INSERT INTO cases ${many(rows)}`;
	return numbered;
}

/** The cases with these sources, even if they were deleted from the record: their numbers by source. */
export async function selectSources(sql: Sql, guildId: string, sources: readonly string[]) {
	const numbers = new Map<string, number>();
	for (const batch of inBatches(sources, maxBatch)) {
		const rows = await sql<{ source: string; number: number }>`
			SELECT source, number FROM cases WHERE guild_id = ${guildId} AND source IN ${many(batch)}`;
		for (const { source, number } of rows) numbers.set(source, number);
	}
	return numbers;
}

/** The number of the case of a temporary ban. */
export async function selectBanCase(
	sql: Sql,
	{ guild_id, user_id, ends_at }: { guild_id: string; user_id: string; ends_at: number },
): Promise<number | undefined> {
	// The expression is in no index, so SQLite uses the index of people, which is the best one here.
	const [row] = await sql<{ number: number }>`
		SELECT number FROM cases
		WHERE guild_id = ${guild_id} AND user_id = ${user_id} AND action || '' = 'temp_ban' AND ends_at = ${ends_at}
		ORDER BY number DESC LIMIT 1`;
	return row?.number;
}

/** Oldest first: only from tool calls and escalation rules. What creates other cases stores their outcome itself. */
export function selectAskedCases(sql: Sql, limit: number): Promise<CaseRow[]> {
	return sql<CaseRow>`
		SELECT * FROM cases WHERE state = 'asked' AND (source IS NULL OR source LIKE 'rule:%')
		ORDER BY created_at LIMIT ${limit}`;
}

/** Undefined properties match all cases. Deleted cases are never selected. */
export interface CaseFilter {
	/** Of one of these people; at least one. */
	userIds?: readonly string[] | undefined;
	/** Likewise. */
	moderatorIds?: readonly string[] | undefined;
	action?: string | undefined;
	/** `from` inclusive, `until` exclusive. */
	from?: number | undefined;
	until?: number | undefined;
}

export interface ModeratorCount {
	moderator_id: string;
	action: string;
	count: number;
}

export type CasePosition = Pick<CaseRow, "created_at" | "number">;

/**
 * Of the columns only the first that is given is compared as it is, and so with its index: expressions (action || '') are in none,
 * and both databases choose badly among several. "number > 0" makes SQLite use the index of time.
 */
function runFor<Row extends object>(
	...[sql, select, guild, filter, rest, more]: [Sql, string, string, CaseFilter, string, Record<string, number>?]
): Promise<Row[]> {
	const { userIds, moderatorIds, action, from = 0, until = Number.MAX_SAFE_INTEGER } = filter;
	const columns = { user_id: userIds, moderator_id: moderatorIds, action: action === undefined ? action : [action] };
	const given = Object.entries(columns).flatMap(([name, values]) => (values ? [[name, many(values)] as const] : []));
	const conditions = given.map(([name], index) => `${name}${index > 0 ? " || ''" : ""} IN $${name}`);
	const text = `${select} FROM cases WHERE guild_id = $guild AND ${conditions.join(" AND ") || "number > 0"}
		AND created_at >= $from AND created_at < $until AND deleted_at IS NULL ${rest}`;
	return runNamed<Row>(sql, text, { guild, from, until, ...Object.fromEntries(given), ...more });
}

/** Newest first, after the case `before`. */
export function selectCases(
	sql: Sql,
	guildId: string,
	filter: CaseFilter,
	{ limit, before }: { limit: number; before?: CasePosition | undefined },
): Promise<CaseRow[]> {
	const { until = Infinity } = filter;
	const [older, page] =
		before && before.created_at < until
			? (["AND (created_at, number) < ($at, $number)", { ...filter, until: before.created_at + 1 }] as const)
			: ["", filter];
	const rest = `${older} ORDER BY created_at DESC, number DESC LIMIT $limit`;
	const position = { at: before?.created_at ?? 0, number: before?.number ?? 0 };
	return runFor<CaseRow>(sql, "SELECT *", guildId, page, rest, { ...position, limit });
}

/** The number of the case that `selectCases` lists `distance` before the case `from`. Reads all newer cases at worst. */
export async function selectNewerCase(
	...[sql, guildId, filter, { created_at: at, number }, distance]: [Sql, string, CaseFilter, CasePosition, number]
): Promise<number | null> {
	const rest = "AND (created_at, number) >= ($at, $number) ORDER BY created_at, number LIMIT 1 OFFSET $distance";
	const newer = { ...filter, from: at };
	const [row] = await runFor<CaseRow>(sql, "SELECT number", guildId, newer, rest, { at, number, distance });
	return row?.number ?? null;
}

/** Only actions that were carried out; no deleted cases. */
export function countCasesOf(sql: Sql, guildId: string, userId: string): Promise<{ action: string; count: number }[]> {
	const rest = "AND state = 'done' GROUP BY action || '' ORDER BY action || ''";
	return runFor(sql, "SELECT action || '' AS action, COUNT(*) AS count", guildId, { userIds: [userId] }, rest);
}

/** Only actions that were carried out. */
export function countCasesByModerator(
	sql: Sql,
	guildId: string,
	filter: Omit<CaseFilter, "userIds">,
): Promise<ModeratorCount[]> {
	const groups = "moderator_id || '', action || ''";
	const select = "SELECT moderator_id || '' AS moderator_id, action || '' AS action, COUNT(*) AS count";
	return runFor(sql, select, guildId, filter, `AND state = 'done' GROUP BY ${groups} ORDER BY ${groups}`);
}

/** Only actions that were carried out, at or after `from`. */
export async function countCasesSince(
	...[sql, guildId, userId, action, from]: [Sql, string, string, string, number]
): Promise<number> {
	const filter = { userIds: [userId], action, from };
	const [row] = await runFor<ModeratorCount>(sql, "SELECT COUNT(*) AS count", guildId, filter, "AND state = 'done'");
	return row?.count ?? 0;
}

/** Of each person with any. Only actions that were carried out, at or after `from`. */
export function countCasesByUser(sql: Sql, guildId: string, action: string | undefined, from: number) {
	const rest = "AND user_id IS NOT NULL AND state = 'done' GROUP BY user_id";
	const select = "SELECT user_id, COUNT(*) AS count";
	return runFor<{ user_id: string; count: number }>(sql, select, guildId, { action, from }, rest);
}

/** Must run in a transaction. */
export async function editCase(
	sql: Sql,
	edit: Omit<CaseEdit, "edit">,
	after: Pick<CaseRow, "reason" | "deleted_at">,
): Promise<void> {
	const { guild_id, number } = edit;
	const [last] = await sql<{ last: number | null }>`
		SELECT MAX(edit) AS last FROM case_edits WHERE guild_id = ${guild_id} AND number = ${number}`;
	await caseEditRows.insert(sql, [{ ...edit, edit: (last?.last ?? 0) + 1 }]);
	await caseRows.change(sql, edit, after);
}

/** Newest first, without notes (only for people with access to cases) and actions under the operator's rules. */
export async function selectReasons(
	sql: Sql,
	guildId: string,
	moderatorId: string | undefined,
	limit: number,
): Promise<string[]> {
	const rows = await selectCases(
		sql,
		guildId,
		{ moderatorIds: moderatorId === undefined ? undefined : [moderatorId] },
		{ limit },
	);
	const isByPeople = ({ action, source }: CaseRow) =>
		action !== "note" && (source === null || source.startsWith("entry:"));
	return rows.filter(isByPeople).flatMap(({ reason }) => reason ?? []);
}
