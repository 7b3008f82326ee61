// Reports: members tell a guild's staff about a message or a person. A report is stored before the reporter gets an answer,
// then posted in the channel for staff, and stays open until staff end it.

import type { Client, Guild } from "discord.js";
import type { JsonObject } from "../../../lib/json.ts";
import { KeyedMutex } from "../../../lib/keyed-mutex.ts";
import type { Sql } from "../../../lib/store/statement.ts";
import { ToolError } from "../../../lib/tool-error.ts";
import type { Store } from "../../store/store.ts";
import {
	type ActRecord,
	endReport,
	type Filed,
	fileReport,
	type ReportAct,
	type ReportRow,
	selectOpenAbout,
	selectReport,
	selectReports,
	setActs,
} from "../../store/tables/reports.ts";
import { StoreUnavailable } from "../../store/unavailable.ts";
import type { CallAs, PersonResult } from "../../tool/call-as.ts";
import type { CaseDraft } from "../../tool/case-record.ts";
import { Copies, type ReportedMessage } from "./copies.ts";
import { EntryWorker, type EntryWorkerOptions } from "./entry-worker.ts";
import { actsOf, actTitles, possibleActs, type ShownReport } from "./report-entry.ts";

const reportLimits = { openOf: 5, recentOf: 10, windowMs: 3_600_000, open: 1_000, reporters: 1_000 } as const;

/** Maximum length of a reporter's reason, in characters. */
export const maxReportReason = 500;
const closeAfterMs = 3_600_000;
const actingMs = 30_000;
const maxActs = 20;

export interface ReportsOptions extends Omit<EntryWorkerOptions, "copies"> {
	store: Pick<Store, "sql" | "transaction">;
	callAs: CallAs;
}

export interface ReportRequest {
	reporterId: string;
	message?: ReportedMessage;
	person?: { id: string; isBot: boolean };
	reason: string | undefined;
}

const maxRelated = 10;

export interface ActRequest {
	guildId: string;
	number: number;
	act: ReportAct;
	person: { id: string; name: string };
	/** Returns the tool and its arguments for this report. */
	call(row: ReportRow): { tool: string; args: JsonObject };
}

export interface ReportEnd {
	state: "handled" | "dismissed";
	/** Id of the person who ends it; null for an MCP client that acts in nobody's name. */
	by: string | null;
	case: number | null;
}

export class Reports {
	readonly copies = new Copies();
	readonly #sql: Sql;
	readonly #now: () => number;
	readonly #worker: EntryWorker;
	readonly #mutex = new KeyedMutex();

	constructor(private readonly options: ReportsOptions) {
		this.#sql = options.store.sql;
		this.#now = options.now ?? Date.now;
		this.#worker = new EntryWorker({ ...options, copies: this.copies });
	}

	#locked<T>(guildId: string, number: number, work: () => Promise<T>) {
		return this.#mutex.withLock(`${guildId} ${number}`, work);
	}

	async find(guildId: string, number: number): Promise<ReportRow> {
		const row = await selectReport(this.#sql, { guild_id: guildId, number });
		if (row) return row;
		throw new ToolError(`There is no report #${number}. Nothing was done.`);
	}

	#begin({ guildId, number, act, person }: ActRequest) {
		return this.#locked(guildId, number, async () => {
			const row = await this.find(guildId, number);
			if (row.state !== "open") throw new ToolError(`Report #${number} was ${row.state} meanwhile. Nothing was done.`);
			if (!possibleActs(row).includes(act)) throw new ToolError("This is not possible here. Nothing was done.");
			const at = this.#now();
			const acts = actsOf(row);
			for (const other of acts) {
				if (other.act !== act) continue;
				const isRunning = other.state === "asked" && at - other.at < actingMs;
				if (other.state === "done" || isRunning)
					throw new ToolError(
						`<@${other.by}> ${isRunning ? "is doing" : "has done"} this (${actTitles[act]}) for report #${number}. Nothing was done.`,
					);
			}
			const record: ActRecord = { act, by: person.id, at, state: "asked" };
			await setActs(this.#sql, row, [...acts, record].slice(-maxActs), row.closes_at);
			return record;
		});
	}

	#finish({ guildId, number }: ActRequest, record: ActRecord, { text, isError, wrote }: PersonResult) {
		return this.#locked(guildId, number, async () => {
			const row = await this.find(guildId, number);
			const others = actsOf(row).filter(
				({ act, by, at }) => act !== record.act || by !== record.by || at !== record.at,
			);
			const known = caseIn(text);
			const ended: ActRecord = {
				...record,
				state: isError ? "failed" : "done",
				...(known !== undefined && { case: known }),
			};
			const isForgotten = isError && !wrote;
			const closesAt = row.state !== "open" ? null : isError ? row.closes_at : this.#now() + closeAfterMs;
			await setActs(this.#sql, row, isForgotten ? others : [...others, ended], closesAt);
		});
	}

	/** See `EntryWorker.whereIn`. */
	whereIn(guild: Guild) {
		return this.#worker.whereIn(guild);
	}

	/**
	 * Stores a report, so that it is posted even after a crash. Returns the text for the reporter, which does not
	 * reveal whether others have reported the same. Rejects with a ToolError if the report is not possible.
	 */
	async file(guild: Guild, request: ReportRequest): Promise<string> {
		const { message, person, reporterId, reason } = request;
		const where = this.#worker.whereIn(guild);
		if (where === "no channel") throw new ToolError("This server has no reports to its staff.");
		if (!where.channel)
			throw new ToolError("Reports cannot be sent at the moment. Tell the staff of this server directly.");
		if (message) this.copies.add(message);
		const filed = await this.options.store.transaction((sql) =>
			fileReport(
				sql,
				{
					guild_id: guild.id,
					target: message?.id ?? `user ${person?.id}`,
					author_id: message?.authorId ?? person?.id ?? "",
					author_kind: message?.authorKind ?? (person?.isBot ? "bot" : "person"),
					channel_id: message?.channelId ?? null,
					message_id: message?.id ?? null,
					reporterId,
					reason: storedReason(reason),
					at: this.#now(),
				},
				reportLimits,
			),
		);
		this.#worker.wake();
		return answerTo(filed);
	}

	async list(
		guildId: string,
		isOpen: boolean,
		page: { limit: number; offset: number },
	): Promise<{ shown: ShownReport[]; total: number }> {
		const { rows, total } = await selectReports(this.#sql, guildId, isOpen, page);
		const shown: ShownReport[] = [];
		for (const row of rows) shown.push(await this.#worker.load(row));
		return { shown, total };
	}

	openAbout(guildId: string, authorId: string): Promise<number[]> {
		return selectOpenAbout(this.#sql, guildId, authorId, maxRelated);
	}

	async act(request: ActRequest): Promise<string> {
		const { guildId, number, person, act } = request;
		const row = await this.find(guildId, number);
		// Invalid form values are refused before anything is stored.
		const call = request.call(row);
		const record = await this.#begin(request);
		this.#worker.update(row);
		try {
			const result = await this.options.callAs({
				guildId,
				person,
				command: `report #${number}: ${actTitles[act]}`,
				draft: draftOf(row, act),
				...call,
			});
			// The person must get the tool's result even if the database is unavailable.
			const failure = await this.#finish(request, record, result).catch((error) => {
				if (error instanceof StoreUnavailable) return error;
				throw error;
			});
			return failure ? `${result.text}\nThe report does not show this: ${failure.message}` : result.text;
		} finally {
			this.#worker.update(row);
		}
	}

	async end(guildId: string, number: number, end: ReportEnd): Promise<void> {
		const isEnded = await this.#locked(guildId, number, async () => {
			await this.find(guildId, number);
			return this.options.store.transaction((sql) =>
				endReport(
					sql,
					{ guild_id: guildId, number },
					{ state: end.state, ended_at: this.#now(), ended_by: end.by, case_number: end.case },
				),
			);
		});
		if (!isEnded) {
			const { state, ended_by } = await this.find(guildId, number);
			const by = ended_by === null ? "" : ` by <@${ended_by}>`;
			throw new ToolError(`Report #${number} was already ${state}${by}. Nothing was done.`);
		}
		this.#worker.wake();
	}

	attach(client: Client): void {
		this.#worker.attach(client);
	}

	start(): void {
		this.#worker.wake();
	}

	close(): Promise<void> {
		return this.#worker.close();
	}
}

function draftOf(row: ReportRow, act: ReportAct): CaseDraft {
	const { author_id, author_kind, channel_id, message_id } = row;
	return {
		action: act === "delete" ? "purge" : act,
		userIds: author_kind === "webhook" ? [] : [author_id],
		...(channel_id !== null && { channelIds: [channel_id] }),
		...(message_id !== null && { messageIds: [message_id] }),
	};
}

function caseIn(text: string): number | undefined {
	const [, number] = /^Case #?(\d{1,9})\.$/m.exec(text) ?? [];
	return number === undefined ? undefined : Number(number);
}

/** Null if there is none. NUL characters are removed, because PostgreSQL cannot store them. */
function storedReason(reason: string | undefined): string | null {
	const text = reason?.toWellFormed().replaceAll("\0", "").trim() ?? "";
	return text === "" ? null : [...text].slice(0, maxReportReason).join("");
}

const sent = "Thank you. Your report was sent to the staff of this server. They see who reported; others do not.";

function answerTo(filed: Filed): string {
	const { openOf, recentOf } = reportLimits;
	switch (filed.kind) {
		case "new":
		case "joined":
		case "crowded":
			return sent;
		case "again":
			return "You have already reported this.";
		case "too many open":
			throw new ToolError(
				`The staff have not looked at ${openOf} of your reports yet. Wait for that, or write to the staff.`,
			);
		case "too many lately":
			throw new ToolError(`You can send ${recentOf} reports an hour. Try again later, or write to the staff.`);
		case "queue full":
			throw new ToolError("The staff have too many open reports to take another one. Write to the staff directly.");
	}
}
