// Tables "reports" and "report_reporters": messages and people that members have reported to a guild's staff. Texts of
// messages are never stored. The reasons of those who report are stored until the report ends.

import { many, type Sql } from "../../../lib/store/statement.ts";

/** State of a report. "handled": staff acted; "dismissed": staff decided that nothing is to be done. */
export type ReportState = "open" | "handled" | "dismissed";

/** Kind of author of the reported message, or of the reported user. "self" is this bot. */
export type AuthorKind = "person" | "bot" | "webhook" | "self";

/** An action that staff can take with the buttons of a report. */
export type ReportAct = "delete" | "warn" | "timeout" | "ban";

/**
 * An action that a staff member took about a report. "asked": the action is running, or the bot was stopped before the
 * outcome was known.
 */
export interface ActRecord {
	act: ReportAct;
	/** Id of the staff member who took the action. */
	by: string;
	/** In epoch milliseconds. */
	at: number;
	state: "asked" | "done" | "failed";
	/** Number of the action's case in the guild's moderation record, if known. */
	case?: number;
}

export interface ReportRow {
	guild_id: string;
	/** Number of the report in its guild, from 1. */
	number: number;
	/**
	 * What was reported: the id of a message, or "user " followed by a user id. A guild has at most one open report with
	 * the same value.
	 */
	target: string;
	/** Id of the user or webhook that wrote the message, or of the reported person. */
	author_id: string;
	author_kind: AuthorKind;
	/** Id of the reported message's channel; null for a report about a person without a message. */
	channel_id: string | null;
	message_id: string | null;
	/** In epoch milliseconds. */
	created_at: number;
	state: ReportState;
	/** The actions that staff took, as a JSON array of `ActRecord`. */
	acts: string;
	/** When the report is closed automatically after staff acted, in epoch milliseconds; null if it is not. */
	closes_at: number | null;
	/** When the report ended, in epoch milliseconds; null while it is open. */
	ended_at: number | null;
	/**
	 * Id of the person who ended the report; null if it was closed automatically or by an MCP client with the root key.
	 */
	ended_by: string | null;
	/** Number of the moderation case that resulted from the report; null if there is none. */
	case_number: number | null;
	/**
	 * Ids of the channel and the message (the entry) that show the report to staff; null until the message was posted.
	 */
	entry_channel_id: string | null;
	entry_id: string | null;
	/** When the bot last started to post the entry, in epoch milliseconds; null if it has not started. */
	post_at: number | null;
	/** Version of the report. Each change that the entry must show increases it. */
	version: number;
	/** The version of the report that its entry shows; 0 if there is no entry. */
	shown: number;
}

/** A person who made a report, with the person's reason. */
export interface ReporterRow {
	user_id: string;
	/** In epoch milliseconds. */
	at: number;
	/** The reason that the person gave; null if there is none or the report has ended. */
	reason: string | null;
}

/** The number of a person's earlier reports, and how many of them were dismissed. */
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

export type ReportKey = Pick<ReportRow, "guild_id" | "number">;

/** A new report by a member. */
export interface NewReport
	extends Pick<ReportRow, "guild_id" | "target" | "author_id" | "author_kind" | "channel_id" | "message_id"> {
	reporterId: string;
	reason: string | null;
	/** Time of the report, in epoch milliseconds. */
	at: number;
}

export interface ReportLimits {
	/** Maximum number of open reports of one person. */
	openOf: number;
	/** Maximum number of reports of one person within `windowMs` milliseconds. */
	recentOf: number;
	windowMs: number;
	/** Maximum number of open reports in a guild. */
	open: number;
	/** Maximum number of people who are stored for one report. */
	reporters: number;
}

/**
 * Result of making a report. "again": the person has already reported the same. "crowded": nothing was stored, because
 * many others reported the same.
 */
export type Filed =
	| { kind: "new" | "joined" | "again" | "crowded"; number: number }
	| { kind: "too many open" | "too many lately" | "queue full" };

/**
 * Stores a report, or adds the person to the open report about the same message or person. Must run in a transaction.
 */
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
	const [open] = await sql<{ number: number }>`
		SELECT number FROM reports
		WHERE guild_id = ${guild_id} AND target = ${target} AND state = ${"open"}`;
	const isCrowded = open && (await countReporters(sql, guild_id, open)) >= limits.reporters;
	if (isCrowded) return { kind: "crowded", number: open.number };
	const number = open?.number ?? (await insertReport(sql, report, limits.open));
	if (number === undefined) return { kind: "queue full" };
	if (open) await bumpReport(sql, { guild_id, number });
	const { reason } = report;
	await sql`
		INSERT INTO report_reporters ${many([{ guild_id, number, user_id: reporterId, at, reason }])}`;
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
	const [open] = await sql<{ total: number }>`
		SELECT COUNT(*) AS total FROM reports WHERE guild_id = ${guild_id} AND state = ${"open"}`;
	if ((open?.total ?? 0) >= max) return undefined;
	const [last] = await sql<{ number: number | null }>`
		SELECT MAX(number) AS number FROM reports WHERE guild_id = ${guild_id}`;
	const { target, author_id, author_kind, channel_id, message_id } = report;
	const row: ReportRow = {
		...{ guild_id, target, author_id, author_kind, channel_id, message_id },
		number: (last?.number ?? 0) + 1,
		created_at: report.at,
		state: "open",
		acts: "[]",
		closes_at: null,
		ended_at: null,
		ended_by: null,
		case_number: null,
		entry_channel_id: null,
		entry_id: null,
		post_at: null,
		version: 1,
		shown: 0,
	};
	await sql`INSERT INTO reports ${many([{ ...row }])}`;
	return row.number;
}

async function bumpReport(sql: Sql, { guild_id, number }: ReportKey) {
	await sql`
		UPDATE reports SET version = version + 1
		WHERE guild_id = ${guild_id} AND number = ${number}`;
}

async function countReporters(sql: Sql, guildId: string, { number }: Pick<ReportRow, "number">): Promise<number> {
	const [row] = await sql<{ total: number }>`
		SELECT COUNT(*) AS total FROM report_reporters
		WHERE guild_id = ${guildId} AND number = ${number}`;
	return row?.total ?? 0;
}

export async function selectReport(sql: Sql, { guild_id, number }: ReportKey): Promise<ReportRow | undefined> {
	const [row] = await sql<ReportRow>`
		SELECT * FROM reports WHERE guild_id = ${guild_id} AND number = ${number}`;
	return row;
}

/** Returns the first people who made a report, and their total number. */
export async function selectReporters(
	sql: Sql,
	{ guild_id, number }: ReportKey,
	limit: number,
): Promise<{ rows: ReporterRow[]; total: number }> {
	const rows = await sql<ReporterRow>`
		SELECT user_id, at, reason FROM report_reporters
		WHERE guild_id = ${guild_id} AND number = ${number}
		ORDER BY at, user_id LIMIT ${limit}`;
	const total = rows.length < limit ? rows.length : await countReporters(sql, guild_id, { number });
	return { rows, total };
}

/** Returns for some people the number of their other reports, and how many of those were dismissed. */
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

/** Returns the latest of the earlier reports about the same message or person. */
export async function selectEarlierReport(
	sql: Sql,
	{ guild_id, number, target }: Pick<ReportRow, keyof ReportKey | "target">,
): Promise<ReportRow | undefined> {
	const [row] = await sql<ReportRow>`
		SELECT * FROM reports
		WHERE guild_id = ${guild_id} AND target = ${target} AND number < ${number}
		ORDER BY number DESC LIMIT 1`;
	return row;
}

/** Returns the numbers of the oldest open reports about a person, at most `limit`. */
export async function selectOpenAbout(sql: Sql, guildId: string, authorId: string, limit: number): Promise<number[]> {
	const rows = await sql<{ number: number }>`
		SELECT number FROM reports
		WHERE guild_id = ${guildId} AND state = 'open' AND author_id = ${authorId}
		ORDER BY number LIMIT ${limit}`;
	return rows.map(({ number }) => number);
}

/**
 * Returns a page of a guild's reports and their total number: open reports, oldest first, or ended ones, newest first.
 */
export async function selectReports(
	sql: Sql,
	guildId: string,
	isOpen: boolean,
	{ limit, offset }: { limit: number; offset: number },
): Promise<{ rows: ReportRow[]; total: number }> {
	const states = many(isOpen ? ["open"] : ["handled", "dismissed"]);
	const rows = isOpen
		? await sql<ReportRow>`
			SELECT * FROM reports WHERE guild_id = ${guildId} AND state IN ${states}
			ORDER BY number LIMIT ${limit} OFFSET ${offset}`
		: await sql<ReportRow>`
			SELECT * FROM reports WHERE guild_id = ${guildId} AND state IN ${states}
			ORDER BY number DESC LIMIT ${limit} OFFSET ${offset}`;
	const [count] = await sql<{ total: number }>`
		SELECT COUNT(*) AS total FROM reports WHERE guild_id = ${guildId} AND state IN ${states}`;
	return { rows, total: count?.total ?? 0 };
}

/** Returns the guild's oldest reports whose entries in the channel for reports are outdated. */
export function selectUnshownReports(sql: Sql, guildId: string, limit: number): Promise<ReportRow[]> {
	return sql<ReportRow>`
		SELECT * FROM reports WHERE shown <> version AND guild_id = ${guildId}
		ORDER BY created_at LIMIT ${limit}`;
}

/** Returns the open reports that the bot closes, the next first, at most 100. */
export function selectClosingReports(sql: Sql): Promise<ReportRow[]> {
	return sql<ReportRow>`
		SELECT * FROM reports
		WHERE state = ${"open"} AND closes_at IS NOT NULL ORDER BY closes_at LIMIT 100`;
}

/** Stores that the bot starts to post the entry of a report in this channel. */
export async function setPosting(
	sql: Sql,
	{ guild_id, number }: ReportKey,
	channelId: string,
	now: number,
): Promise<void> {
	await sql`
		UPDATE reports SET entry_channel_id = ${channelId}, entry_id = NULL, post_at = ${now}
		WHERE guild_id = ${guild_id} AND number = ${number}`;
}

/** Stores which version of a report its entry shows. Without an id, stores that the entry does not exist. */
export async function setShown(
	sql: Sql,
	{ guild_id, number }: ReportKey,
	entryId: string | null,
	version: number,
): Promise<void> {
	await sql`
		UPDATE reports SET entry_id = ${entryId}, shown = ${version}
		WHERE guild_id = ${guild_id} AND number = ${number}`;
}

/** Stores the actions that staff took about a report, and when the report is closed automatically. */
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

/**
 * Ends an open report, and deletes the reasons that people gave. Returns false if the report is not open. Must run in a
 * transaction.
 */
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
	await sql`
		UPDATE report_reporters SET reason = NULL
		WHERE guild_id = ${guild_id} AND number = ${number}`;
	return true;
}

/**
 * Deletes reports that ended before `instant` (epoch milliseconds), and returns their number. Keeps the latest report
 * of each guild, because its number must not be used again. Must run in a transaction.
 */
export async function deleteReportsBefore(sql: Sql, instant: number): Promise<number> {
	const rows = await sql<ReportKey>`
		DELETE FROM reports
		WHERE ended_at < ${instant} AND number < (
			SELECT MAX(newer.number) FROM reports AS newer WHERE newer.guild_id = reports.guild_id
		) RETURNING guild_id, number`;
	for (const { guild_id, number } of rows)
		await sql`
			DELETE FROM report_reporters WHERE guild_id = ${guild_id} AND number = ${number}`;
	return rows.length;
}
