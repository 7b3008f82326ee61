// Tables "reports" and "report_reporters": messages and people that members have reported to a guild's staff. Texts of
// messages are never stored. The reasons of those who report are stored until the report ends.
// Times are in epoch milliseconds.

import type { RowOf } from "../../../lib/store/row.ts";
import { firstRow, many, rowsOf, runNamed, type Sql } from "../../../lib/store/statement.ts";

/** "dismissed": staff decided that nothing is to be done. */
export type ReportState = "open" | "handled" | "dismissed";

export type AuthorKind = "person" | "bot" | "webhook" | "self";

export type ReportAct = "delete" | "warn" | "timeout" | "ban";

/** "asked": running, or the bot was stopped before the outcome was known. */
export interface ActRecord {
	act: ReportAct;
	by: string;
	at: number;
	state: "asked" | "done" | "failed";
	case?: number;
}

export interface ReportRow extends RowOf<typeof reportsTables, "reports"> {
	/** From 1 in each guild. */
	number: number;
	/** Id of a message, or "user " and a user id. Unique among the open reports of a guild. */
	target: string;
	/** Author of the message (a user or webhook), or the reported person. */
	author_id: string;
	author_kind: AuthorKind;
	/** Null for a report about a person without a message. */
	channel_id: string | null;
	state: ReportState;
	/** JSON array of `ActRecord`. */
	acts: string;
	/** When it closes by itself after staff acted. */
	closes_at: number | null;
	/** Null if it closed by itself or by an MCP client with the root key. */
	ended_by: string | null;
	/** The message (entry) that shows the report to staff; null until posted. */
	entry_channel_id: string | null;
	/** When the bot last began to post the entry. */
	post_at: number | null;
	/** Increased by each change that the entry must show. */
	version: number;
	/** Version that the entry shows; 0 if there is none. */
	shown: number;
}

export type ReporterRow = Omit<RowOf<typeof reportsTables, "report_reporters">, keyof ReportKey>;

export interface ReporterRecord {
	user_id: string;
	total: number;
	dismissed: number;
}

export const reportsTables = `
	CREATE TABLE reports (
		guild_id TEXT NOT NULL,
		number INTEGER NOT NULL,
		target TEXT NOT NULL,
		author_id TEXT NOT NULL,
		author_kind TEXT NOT NULL,
		channel_id TEXT,
		message_id TEXT,
		created_at BIGINT NOT NULL,
		state TEXT NOT NULL,
		acts TEXT NOT NULL,
		closes_at BIGINT,
		ended_at BIGINT,
		ended_by TEXT,
		case_number INTEGER,
		entry_channel_id TEXT,
		entry_id TEXT,
		post_at BIGINT,
		version INTEGER NOT NULL,
		shown INTEGER NOT NULL,
		PRIMARY KEY (guild_id, number)
	);
	CREATE UNIQUE INDEX reports_open_target ON reports (guild_id, target) WHERE state = 'open';
	CREATE INDEX reports_by_target ON reports (guild_id, target);
	CREATE INDEX reports_by_state ON reports (state, guild_id, number);
	CREATE INDEX reports_by_shown ON reports (created_at) WHERE shown <> version;
	CREATE INDEX reports_by_end ON reports (ended_at);
	CREATE TABLE report_reporters (
		guild_id TEXT NOT NULL,
		number INTEGER NOT NULL,
		user_id TEXT NOT NULL,
		at BIGINT NOT NULL,
		reason TEXT,
		PRIMARY KEY (guild_id, number, user_id)
	);
	CREATE INDEX report_reporters_by_user ON report_reporters (guild_id, user_id, at)`;

export const reportRows = rowsOf<ReportRow, keyof ReportKey>("reports", ["guild_id", "number"]);

const reporterRows = rowsOf<RowOf<typeof reportsTables, "report_reporters">, keyof ReportKey | "user_id">(
	"report_reporters",
	["guild_id", "number", "user_id"],
);

export type ReportKey = Pick<ReportRow, "guild_id" | "number">;

export interface NewReport
	extends Pick<ReportRow, "guild_id" | "target" | "author_id" | "author_kind" | "channel_id" | "message_id"> {
	reporterId: string;
	reason: string | null;
	at: number;
}

export interface ReportLimits {
	openOf: number;
	/** Reports of one person within `windowMs` milliseconds. */
	recentOf: number;
	windowMs: number;
	open: number;
	reporters: number;
}

/** "again": the person reported the same before. "crowded": not stored, because many others did. */
export type Filed =
	| { kind: "new" | "joined" | "again" | "crowded"; number: number }
	| { kind: "too many open" | "too many lately" | "queue full" };

/** Adds the person to an open report about the same. Must run in a transaction. */
export async function fileReport(sql: Sql, report: NewReport, limits: ReportLimits): Promise<Filed> {
	const { guild_id, target, reporterId, at } = report;
	const own = await sql<{ number: number; state: ReportState }>`
		SELECT reports.number, reports.state FROM report_reporters
		JOIN reports ON reports.guild_id = report_reporters.guild_id AND reports.number = report_reporters.number
		WHERE report_reporters.guild_id = ${guild_id} AND report_reporters.user_id = ${reporterId}
			AND reports.target = ${target}
		ORDER BY reports.number DESC LIMIT 1`;
	// A person can report the same message only once, but the same person again, who may misbehave again.
	const before = own.find(({ state }) => state === "open" || report.message_id !== null);
	if (before) return { kind: "again", number: before.number };
	const refused = await refusalOf(sql, report, limits);
	if (refused) return refused;
	const [open] = await reportRows.all(sql, { guild_id, target, state: "open" });
	const isCrowded = open && (await reporterRows.count(sql, { guild_id, number: open.number })) >= limits.reporters;
	if (isCrowded) return { kind: "crowded", number: open.number };
	const number = open?.number ?? (await insertReport(sql, report, limits.open));
	if (number === undefined) return { kind: "queue full" };
	if (open) await sql`UPDATE reports SET version = version + 1 WHERE guild_id = ${guild_id} AND number = ${number}`;
	const { reason } = report;
	await reporterRows.insert(sql, [{ guild_id, number, user_id: reporterId, at, reason }]);
	return { kind: open ? "joined" : "new", number };
}

async function refusalOf(
	sql: Sql,
	{ guild_id, reporterId, at }: NewReport,
	limits: ReportLimits,
): Promise<Filed | undefined> {
	const [open] = await sql<{ total: number }>`
		SELECT COUNT(*) AS total FROM report_reporters
		JOIN reports ON reports.guild_id = report_reporters.guild_id AND reports.number = report_reporters.number
		WHERE report_reporters.guild_id = ${guild_id} AND report_reporters.user_id = ${reporterId}
			AND reports.state = ${"open"}`;
	if ((open?.total ?? 0) >= limits.openOf) return { kind: "too many open" };
	const [recent] = await sql<{ total: number }>`
		SELECT COUNT(*) AS total FROM report_reporters
		WHERE guild_id = ${guild_id} AND user_id = ${reporterId} AND at > ${at - limits.windowMs}`;
	return (recent?.total ?? 0) >= limits.recentOf ? { kind: "too many lately" } : undefined;
}

async function insertReport(sql: Sql, report: NewReport, max: number): Promise<number | undefined> {
	const { guild_id } = report;
	if ((await reportRows.count(sql, { guild_id, state: "open" })) >= max) return undefined;
	const [last] = await sql<{ number: number | null }>`
		SELECT MAX(number) AS number FROM reports WHERE guild_id = ${guild_id}`;
	const { target, author_id, author_kind, channel_id, message_id } = report;
	const row = {
		guild_id,
		target,
		author_id,
		author_kind,
		channel_id,
		message_id,
		number: (last?.number ?? 0) + 1,
		created_at: report.at,
		state: "open",
		acts: "[]",
		version: 1,
		shown: 0,
	};
	await sql`INSERT INTO reports ${many([row])}`;
	return row.number;
}

export async function selectReporters(
	sql: Sql,
	{ guild_id, number }: ReportKey,
	limit: number,
): Promise<{ rows: ReporterRow[]; total: number }> {
	const rows = await sql<ReporterRow>`
		SELECT user_id, at, reason FROM report_reporters
		WHERE guild_id = ${guild_id} AND number = ${number}
		ORDER BY at, user_id LIMIT ${limit}`;
	const total = rows.length < limit ? rows.length : await reporterRows.count(sql, { guild_id, number });
	return { rows, total };
}

export function selectReporterRecords(
	sql: Sql,
	{ guild_id, number }: ReportKey,
	userIds: readonly string[],
): Promise<ReporterRecord[]> {
	return sql<ReporterRecord>`
		SELECT report_reporters.user_id, COUNT(*) AS total,
			COUNT(CASE WHEN reports.state = ${"dismissed"} THEN 1 END) AS dismissed
		FROM report_reporters
		JOIN reports ON reports.guild_id = report_reporters.guild_id AND reports.number = report_reporters.number
		WHERE report_reporters.guild_id = ${guild_id} AND report_reporters.user_id IN ${many(userIds)}
			AND report_reporters.number <> ${number}
		GROUP BY report_reporters.user_id`;
}

export function selectEarlierReport(
	sql: Sql,
	{ guild_id, number, target }: Pick<ReportRow, keyof ReportKey | "target">,
): Promise<ReportRow | undefined> {
	return firstRow(sql<ReportRow>`
		SELECT * FROM reports
		WHERE guild_id = ${guild_id} AND target = ${target} AND number < ${number}
		ORDER BY number DESC LIMIT 1`);
}

export async function selectOpenAbout(sql: Sql, guildId: string, authorId: string, limit: number): Promise<number[]> {
	const about = { guild_id: guildId, state: "open", author_id: authorId } as const;
	const rows = await reportRows.all(sql, about, "number", limit);
	return rows.map(({ number }) => number);
}

/** Open reports oldest first, ended ones newest first; with the total. */
export async function selectReports(
	sql: Sql,
	guildId: string,
	isOpen: boolean,
	{ limit, offset }: { limit: number; offset: number },
): Promise<{ rows: ReportRow[]; total: number }> {
	const states = many(isOpen ? ["open"] : ["handled", "dismissed"]);
	const values = { guildId, states, limit, offset };
	const from = "FROM reports WHERE guild_id = $guildId AND state IN $states AND target <> ''";
	const page = `SELECT * ${from} ORDER BY number ${isOpen ? "" : "DESC"} LIMIT $limit OFFSET $offset`;
	const rows = await runNamed<ReportRow>(sql, page, values);
	const [count] = await runNamed<{ total: number }>(sql, `SELECT COUNT(*) AS total ${from}`, values);
	return { rows, total: count?.total ?? 0 };
}

export function selectUnshownReports(sql: Sql, guildIds: readonly string[], limit: number): Promise<ReportRow[]> {
	return sql<ReportRow>`
		SELECT * FROM reports WHERE shown <> version AND guild_id IN ${many(guildIds)}
		ORDER BY created_at LIMIT ${limit}`;
}

/** Those that the bot closes, the next first, at most 100. */
export function selectClosingReports(sql: Sql): Promise<ReportRow[]> {
	return sql<ReportRow>`
		SELECT * FROM reports WHERE state = ${"open"} AND closes_at IS NOT NULL ORDER BY closes_at LIMIT 100`;
}

export async function setActs(
	sql: Sql,
	{ guild_id, number }: ReportKey,
	acts: readonly ActRecord[],
	closesAt: number | null,
): Promise<void> {
	await sql`
		UPDATE reports SET acts = ${JSON.stringify(acts)}, closes_at = ${closesAt}, version = version + 1
		WHERE guild_id = ${guild_id} AND number = ${number}`;
}

/** Deletes the reasons that people gave. False if not open. Must run in a transaction. */
export async function endReport(
	sql: Sql,
	{ guild_id, number }: ReportKey,
	end: Pick<ReportRow, "state" | "ended_at" | "ended_by" | "case_number">,
): Promise<boolean> {
	const rows = await sql`
		UPDATE reports SET state = ${end.state}, ended_at = ${end.ended_at}, ended_by = ${end.ended_by},
			case_number = ${end.case_number}, closes_at = NULL, version = version + 1
		WHERE guild_id = ${guild_id} AND number = ${number} AND state = ${"open"} RETURNING number`;
	if (rows.length === 0) return false;
	await sql`UPDATE report_reporters SET reason = NULL WHERE guild_id = ${guild_id} AND number = ${number}`;
	return true;
}
