// Reports: members tell a guild's staff about a message or a person. A report is stored before the reporter gets an answer,
// then posted in the channel for staff, and stays open until staff end it.

import type { Guild } from "discord.js";
import type { JsonObject } from "../../../lib/json.ts";
import { KeyedMutex } from "../../../lib/keyed-mutex.ts";
import type { Sql } from "../../../lib/store/statement.ts";
import { SaidError } from "../../../texts/said-error.ts";
import { type Said, said, sayIn } from "../../../texts/texts.ts";
import type { Store } from "../../store/store.ts";
import {
	type ActRecord,
	endReport,
	type Filed,
	fileReport,
	type ReportAct,
	type ReportRow,
	reportRows,
	selectOpenAbout,
	selectReports,
	setActs,
} from "../../store/tables/reports.ts";
import { StoreUnavailable } from "../../store/unavailable.ts";
import type { CallAs, PersonResult } from "../../tool/call-as.ts";
import type { CaseDraft } from "../../tool/case-record.ts";
import { EntryWorker, type EntryWorkerOptions } from "./entry-worker.ts";
import { Copies, type ReportedMessage } from "./message-copy.ts";
import { actsOf, possibleActs, type ShownReport, saidAct, titleOfAct } from "./report-entry.ts";

const reportLimits = { openOf: 5, recentOf: 10, windowMs: 3_600_000, open: 1_000, reporters: 1_000 } as const;

export const maxReportReason = 500;
const closeAfterMs = 3_600_000;
const actingMs = 30_000;
const maxActs = 20;

interface ReportsOptions extends Omit<EntryWorkerOptions, "copies"> {
	store: Store;
	callAs: CallAs;
}

interface ReportRequest {
	reporterId: string;
	message?: ReportedMessage;
	person?: { id: string; isBot: boolean };
	reason: string | undefined;
}

const maxRelated = 10;

interface ActRequest {
	guildId: string;
	number: number;
	act: ReportAct;
	person: { id: string; name: string };
	locale: string;
	call(row: ReportRow): { tool: string; args: JsonObject };
}

interface ReportEnd {
	state: "handled" | "dismissed";
	/** Null for an MCP client that acts in nobody's name. */
	by: string | null;
	case: number | null;
}

export class Reports {
	readonly copies = new Copies();
	readonly #sql: Sql;
	readonly #now: () => number;
	/** The part of the bot that posts and updates the entries. */
	readonly worker: EntryWorker;
	readonly #mutex = new KeyedMutex();

	constructor(private readonly options: ReportsOptions) {
		this.#sql = options.store.sql;
		this.#now = options.now ?? Date.now;
		this.worker = new EntryWorker({ ...options, copies: this.copies });
	}

	#locked<T>(guildId: string, number: number, work: () => Promise<T>) {
		return this.#mutex.withLock(`${guildId} ${number}`, work);
	}

	async find(guildId: string, number: number): Promise<ReportRow> {
		const row = await reportRows.first(this.#sql, { guild_id: guildId, number });
		if (row) return row;
		throw new SaidError(said("report.refused.none", { number: String(number) }));
	}

	#begin({ guildId, number, act, person }: ActRequest) {
		return this.#locked(guildId, number, async () => {
			const row = await this.find(guildId, number);
			const facts = { number: String(number), act: saidAct(act) };
			if (row.state !== "open") {
				const state = said(`report.state.${row.state}`);
				throw new SaidError(said("report.refused.meanwhile", { number: facts.number, state }));
			}
			if (!possibleActs(row).includes(act)) throw new SaidError(said("report.refused.impossible"));
			const at = this.#now();
			const acts = actsOf(row);
			for (const other of acts) {
				if (other.act !== act) continue;
				const isRunning = other.state === "asked" && at - other.at < actingMs;
				if (other.state === "done" || isRunning)
					throw new SaidError(
						said(isRunning ? "report.refused.running" : "report.refused.done", { who: `<@${other.by}>`, ...facts }),
					);
			}
			const record: ActRecord = { act, by: person.id, at, state: "asked" };
			await setActs(this.#sql, row, [...acts, record].slice(-maxActs), row.closes_at);
			return record;
		});
	}

	#finish({ guildId, number }: ActRequest, record: ActRecord, { isError, wrote }: PersonResult, known?: number) {
		return this.#locked(guildId, number, async () => {
			const row = await this.find(guildId, number);
			const others = actsOf(row).filter(
				({ act, by, at }) => act !== record.act || by !== record.by || at !== record.at,
			);
			const ended: ActRecord = {
				...record,
				state: isError ? "failed" : "done",
				...(known !== undefined && !isError && { case: known }),
			};
			const isForgotten = isError && !wrote;
			const closesAt = row.state !== "open" ? null : isError ? row.closes_at : this.#now() + closeAfterMs;
			await setActs(this.#sql, row, isForgotten ? others : [...others, ended], closesAt);
		});
	}

	/** Throws a SaidError where nobody can report. */
	requireOn(guildId: string): void {
		if (this.options.settings.of(guildId)["moderation.reports"] === undefined)
			throw new SaidError(said("report.refused.off"));
	}

	/** The answer does not reveal whether others have reported the same. Rejects with a ToolError if it is not possible. */
	async file(guild: Guild, request: ReportRequest): Promise<Said> {
		const { message, person, reporterId, reason } = request;
		const where = this.worker.whereIn(guild);
		if (!where) throw new SaidError(said("report.refused.off"));
		if (!where.channel) throw new SaidError(said("report.refused.broken"));
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
		this.worker.wake();
		return answerTo(filed);
	}

	async list(
		guildId: string,
		isOpen: boolean,
		page: { limit: number; offset: number },
	): Promise<{ shown: ShownReport[]; total: number }> {
		const { rows, total } = await selectReports(this.#sql, guildId, isOpen, page);
		const shown: ShownReport[] = [];
		for (const row of rows) shown.push(await this.worker.load(row));
		return { shown, total };
	}

	openAbout(guildId: string, authorId: string): Promise<number[]> {
		return selectOpenAbout(this.#sql, guildId, authorId, maxRelated);
	}

	async act(request: ActRequest): Promise<string> {
		const { guildId, number, person, act, locale } = request;
		const row = await this.find(guildId, number);
		// Invalid form values are refused before anything is stored.
		const call = request.call(row);
		const record = await this.#begin(request);
		this.worker.update(row);
		let known: number | undefined;
		const draft: CaseDraft = {
			action: act === "delete" ? "purge" : act,
			userIds: row.author_kind === "webhook" ? [] : [row.author_id],
			...(row.channel_id !== null && { channelIds: [row.channel_id] }),
			...(row.message_id !== null && { messageIds: [row.message_id] }),
			opened(numbers) {
				known = numbers.length === 1 ? numbers[0] : undefined;
			},
		};
		try {
			const result = await this.options.callAs({
				guildId,
				person,
				command: `report #${number}: ${titleOfAct(act)}`,
				draft,
				locale,
				...call,
			});
			// The person must get the tool's result even if the database is unavailable.
			const failure = await this.#finish(request, record, result, known).catch((error) => {
				if (error instanceof StoreUnavailable) return error;
				throw error;
			});
			return failure ? `${result.text}\n${sayIn(locale)("report.not_shown")}` : result.text;
		} finally {
			this.worker.update(row);
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
		if (!isEnded) throw new SaidError(alreadyEnded(await this.find(guildId, number)));
		this.worker.wake();
	}
}

export function alreadyEnded({ number, state, ended_by }: ReportRow): Said {
	const facts = { number: String(number), state: said(`report.state.${state}`) };
	return ended_by === null
		? said("report.refused.ended", facts)
		: said("report.refused.ended_by", { ...facts, who: `<@${ended_by}>` });
}

/** Null if there is none. NUL characters are removed, because PostgreSQL cannot store them. */
function storedReason(reason: string | undefined): string | null {
	const text = reason?.toWellFormed().replaceAll("\0", "").trim() ?? "";
	return text === "" ? null : [...text].slice(0, maxReportReason).join("");
}

function answerTo(filed: Filed): Said {
	const { openOf, recentOf } = reportLimits;
	switch (filed.kind) {
		case "new":
		case "joined":
		case "crowded":
			return said("report.sent");
		case "again":
			return said("report.again");
		case "too many open":
			throw new SaidError(said("report.refused.too_many_open", { max: openOf }));
		case "too many lately":
			throw new SaidError(said("report.refused.too_many_lately", { max: recentOf }));
		case "queue full":
			throw new SaidError(said("report.refused.full"));
	}
}
