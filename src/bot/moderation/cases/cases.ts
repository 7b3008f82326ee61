// The moderation record: stores each moderator's action in a guild as a numbered case, and writes it to the moderation
// log.

import { permitStoring } from "../../../discord/rest/rest.ts";
import { inBatches, type Sql } from "../../../lib/store/statement.ts";
import { said } from "../../../texts/texts.ts";
import type { EscalationRule } from "../../config/escalation.ts";
import {
	type CaseEdit,
	type CaseFilter,
	type CasePosition,
	type CaseRow,
	caseEditRows,
	caseRows,
	countCasesByModerator,
	countCasesOf,
	countCasesSince,
	editCase,
	insertCases,
	type ModeratorCount,
	selectCases,
	selectNewerCase,
	selectReasons,
	selectSources,
} from "../../store/tables/cases.ts";
import { StoreUnavailable } from "../../store/unavailable.ts";
import type { CaseCall, CaseRecorder, OpenCases } from "../../tool/case-record.ts";
import type { Posted } from "../moderation-log.ts";
import { ByHand } from "./by-hand.ts";
import {
	type Case,
	type CaseResult,
	type CasesOptions,
	idsText,
	type NewCase,
	storedText,
	toCase,
	toRow,
	whyColumns,
} from "./case.ts";
import { logCase, logChange } from "./case-text.ts";
import { CaseWorker } from "./case-worker.ts";
import { Recorder } from "./recorder.ts";

const maxReasonsRead = 200;
const maxReasons = 25;
/** In one transaction, for which other work of the database waits. */
const importBatch = 500;

/** The moderation record. All methods that return a promise reject with StoreUnavailable, but `open`. */
export class Cases implements CaseRecorder {
	/** Parts of the bot, as is `byHand`. */
	readonly worker: CaseWorker;
	readonly #recorder: Recorder;
	readonly byHand: ByHand;
	readonly #now: () => number;
	readonly #sql: Sql;

	constructor(private readonly options: CasesOptions) {
		this.#now = options.now ?? Date.now;
		this.#sql = options.store.sql;
		const writes = {
			...options,
			insert: this.#insert.bind(this),
			settle: this.settle.bind(this),
			botId: () => this.#botId,
		};
		this.worker = new CaseWorker(writes);
		this.#recorder = new Recorder({ ...writes, worker: this.worker });
		this.byHand = new ByHand(options, this);
	}

	/** `mustStore`: for warnings and notes, which consist only of their case. Rejects if it cannot be stored. */
	open(call: CaseCall, mustStore = false): Promise<OpenCases> {
		return this.#recorder.open(call, mustStore);
	}

	/** Idempotent by `source`: the number of the case. Asked cases need a `source`, and `settle` later, also after a kill. */
	async add(guildId: string, added: NewCase, quiet = false): Promise<number> {
		const [row] = await this.#insert(guildId, [added]);
		if (row) {
			if (row.state !== "asked" && !quiet) logCase(this.options.moderationLog, toCase(row));
			return row.number;
		}
		const [number] = (await selectSources(this.#sql, guildId, [added.source ?? ""])).values();
		if (number === undefined) throw new Error("the case was neither stored nor found");
		return number;
	}

	/** What another bot did: nobody is told, and no rule applies. Idempotent by `source`: returns how many are new. */
	async import(guildId: string, added: readonly NewCase[], bot: string, moderatorId: string): Promise<number> {
		let count = 0;
		for (const batch of inBatches(added, importBatch)) {
			permitStoring();
			const rows = batch.map((one) => toRow(one, this.#now()));
			count += (await this.options.store.transaction((sql) => insertCases(sql, guildId, rows))).length;
		}
		const title = said("log.imported.title", { count, bot });
		if (count > 0) this.options.moderationLog.add(guildId, { title, moderatorId });
		return count;
	}

	/** Those that are not stored yet, each once, oldest first. All need a `source` and a date. */
	async missing(guildId: string, all: readonly NewCase[]): Promise<NewCase[]> {
		const bySource = new Map(all.map((one) => [one.source ?? "", one]));
		for (const [source] of await selectSources(this.#sql, guildId, [...bySource.keys()])) bySource.delete(source);
		return [...bySource.values()].sort((a, b) => Number(a.createdAt) - Number(b.createdAt));
	}

	/** Even if it was deleted from the record. */
	async find(guildId: string, number: number): Promise<Case | undefined> {
		const row = await caseRows.first(this.#sql, { guild_id: guildId, number });
		return row && toCase(row);
	}

	/** Newest first, without deleted ones. */
	async list(
		guildId: string,
		filter: CaseFilter,
		page: { limit: number; before?: CasePosition | undefined },
	): Promise<Case[]> {
		return (await selectCases(this.#sql, guildId, filter, page)).map(toCase);
	}

	/** The case before which that page of a list begins that ends with the case `last`; null for the first page. */
	startOfPage(guildId: string, filter: CaseFilter, last: Case, length: number): Promise<number | null> {
		const position = { created_at: last.createdAt, number: last.number };
		return selectNewerCase(this.#sql, guildId, filter, position, length);
	}

	/** Only what was done, by action. */
	countOf(guildId: string, userId: string): Promise<{ action: string; count: number }[]> {
		return countCasesOf(this.#sql, guildId, userId);
	}

	/** Only what was done, by moderator and action. */
	countByModerator(guildId: string, filter: Omit<CaseFilter, "userIds">): Promise<ModeratorCount[]> {
		return countCasesByModerator(this.#sql, guildId, filter);
	}

	/** False if there is no such case. */
	edit(guildId: string, number: number, editor_id: string, reason: string): Promise<boolean> {
		return this.#change(guildId, number, ({ deleted_at }) => ({
			what: "reason",
			editor_id,
			reason: storedText(reason),
			deleted_at,
		}));
	}

	/** Or restores it, if `isRemoved` is false. The case stays stored. False if there is none or nothing changes. */
	remove(guildId: string, number: number, editor_id: string, isRemoved = true): Promise<boolean> {
		return this.#change(guildId, number, ({ reason, deleted_at }) =>
			(deleted_at !== null) === isRemoved
				? undefined
				: { what: isRemoved ? "delete" : "restore", editor_id, reason, deleted_at: isRemoved ? this.#now() : null },
		);
	}

	/** Never rejects: without it, the case has no link to its entry. */
	async setEntry(guildId: string, number: number, { channelId, messageId }: Posted): Promise<void> {
		const entry = { entry_channel_id: channelId, entry_id: messageId };
		// The first entry stays: later ones are about changes of the case.
		const written = caseRows.change(this.#sql, { guild_id: guildId, number }, entry, { entry_id: null });
		await written.catch((error) => {
			if (!(error instanceof StoreUnavailable))
				this.options.log.error("could not store the log entry of a case", { guild: guildId, error });
		});
	}

	/** Newest first. */
	edits(guildId: string, number: number, limit: number): Promise<CaseEdit[]> {
		return caseEditRows.all(this.#sql, { guild_id: guildId, number }, "edit DESC", limit);
	}

	/** Up to 25 different ones of the latest cases, those by this moderator first. */
	async recentReasons(guildId: string, moderatorId?: string): Promise<string[]> {
		const own = moderatorId ? await selectReasons(this.#sql, guildId, moderatorId, maxReasonsRead) : [];
		const all = await selectReasons(this.#sql, guildId, undefined, maxReasonsRead);
		return [...new Set([...own, ...all])].slice(0, maxReasons);
	}

	async #insert(guildId: string, added: readonly NewCase[]): Promise<CaseRow[]> {
		const rows = added.map((one) => toRow(one, this.#now()));
		await this.options.settings.ready();
		const stored = await this.options.store.transaction(async (sql) => {
			const stored = await insertCases(sql, guildId, rows);
			for (const row of stored) await this.#escalate(sql, row);
			return stored;
		});
		this.worker.start();
		return stored;
	}

	async #escalate(sql: Sql, row: CaseRow): Promise<CaseRow | undefined> {
		if (row.state !== "done" || row.user_id === null) return undefined;
		const at = this.#now();
		const { "moderation.escalate": rules, "automod.counts": countsAutomod } = this.options.settings.of(row.guild_id);
		const rule = await crossedRule(sql, row, rules, at, countsAutomod);
		if (!rule) return undefined;
		const { action, durationMs, text } = rule;
		const next: NewCase = {
			action: action === "ban" && durationMs !== undefined ? "temp_ban" : action,
			userId: row.user_id,
			moderatorId: this.#botId,
			reason: `Rule "${text}" (case ${row.number})`,
			endsAt: durationMs === undefined ? undefined : at + durationMs,
			state: "asked",
			// The time of the causing case, so that a rule is not carried out long after it, such as after an outage.
			createdAt: row.created_at,
			source: `rule:${row.number}`,
		};
		const [inserted] = await insertCases(sql, row.guild_id, [toRow(next, at)]);
		return inserted;
	}

	get #botId(): string {
		return this.options.connection.user?.id ?? "";
	}

	/** Of a case with the state "asked", unless it has one already. With `quiet`, the caller writes the log entry. */
	async settle(guildId: string, number: number, result: CaseResult, quiet = false): Promise<CaseRow | undefined> {
		const { store, moderationLog, settings } = this.options;
		await settings.ready();
		const { row: settled, next } = await store.transaction(async (sql) => {
			await addResult(sql, guildId, number, result);
			const { state } = result;
			// An outcome that was stored before is kept.
			const outcome = { state, ...whyColumns(result) };
			const row = await caseRows.change(sql, { guild_id: guildId, number }, outcome, { state: "asked" });
			return { row, next: row && (await this.#escalate(sql, row)) };
		});
		this.worker.start();
		if (settled && !quiet) logCase(moderationLog, toCase(settled));
		return next;
	}

	async #change(guildId: string, number: number, edit: (row: CaseRow) => Changed | undefined): Promise<boolean> {
		permitStoring();
		const { store, moderationLog } = this.options;
		const changed = await store.transaction(async (sql) => {
			const row = await caseRows.first(sql, { guild_id: guildId, number });
			const changed = row && edit(row);
			if (!row || !changed) return undefined;
			const { what, editor_id, reason, deleted_at } = changed;
			const before = what === "reason" ? row.reason : null;
			const at = this.#now();
			await editCase(sql, { guild_id: guildId, number, at, editor_id, what, before }, { reason, deleted_at });
			return { ...changed, row: { ...row, reason, deleted_at } };
		});
		if (!changed) return false;
		logChange(moderationLog, toCase(changed.row), changed.what, changed.editor_id);
		return true;
	}
}

async function addResult(
	sql: Sql,
	guildId: string,
	number: number,
	{ messageIds, channelIds, detail }: CaseResult,
): Promise<void> {
	if (!messageIds && !channelIds && !detail) return;
	const row = await caseRows.first(sql, { guild_id: guildId, number });
	if (row?.state !== "asked") return;
	await caseRows.change(sql, row, {
		message_ids: messageIds ? idsText(messageIds) : row.message_ids,
		channel_ids: channelIds ? idsText(channelIds) : row.channel_ids,
		detail: detail ? JSON.stringify(detail) : row.detail,
	});
}

type Changed = Pick<CaseEdit, "what" | "editor_id"> & Pick<CaseRow, "reason" | "deleted_at">;

/** The most severe one whose number the person's cases reach with the case `row`. Not again above that number. */
async function crossedRule(
	sql: Sql,
	row: CaseRow,
	rules: readonly EscalationRule[],
	now: number,
	countsAutomod: boolean,
): Promise<EscalationRule | undefined> {
	const crossed: EscalationRule[] = [];
	for (const rule of rules) {
		const from = now - rule.windowMs;
		const ofAutomod = countsAutomod && rule.actions.some((one) => one === "warn") ? (["automod"] as const) : [];
		const actions = [...rule.actions, ...ofAutomod];
		if (!actions.some((one) => one === row.action) || row.created_at < from) continue;
		let count = 0;
		for (const action of actions) count += await countCasesSince(sql, row.guild_id, row.user_id ?? "", action, from);
		if (count === rule.count) crossed.push(rule);
	}
	return crossed.toSorted(bySeverity)[0];
}

const severities = { timeout: 1, kick: 2, ban: 3 } as const;

function bySeverity(a: EscalationRule, b: EscalationRule): number {
	const lengthOf = ({ durationMs }: EscalationRule) => durationMs ?? Number.MAX_SAFE_INTEGER;
	return severities[b.action] - severities[a.action] || lengthOf(b) - lengthOf(a);
}
