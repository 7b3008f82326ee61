// The moderation record: stores each moderator's action in a guild as a numbered case, and writes it to the moderation
// log.

import type { Client } from "discord.js";
import type { Log } from "../../../../lib/log.ts";
import type { EscalationRule } from "../../../config/escalation.ts";
import type { Connection } from "../../../discord/connection/connection.ts";
import type { Sql } from "../../../store/database/statement.ts";
import type { Store } from "../../../store/store.ts";
import {
	type CaseEdit,
	type CaseFilter,
	type CasePosition,
	type CaseRow,
	countCasesByModerator,
	countCasesOf,
	editCase,
	insertCases,
	type ModeratorCount,
	selectCase,
	selectCaseBySource,
	selectCaseEdits,
	selectCases,
	selectReasons,
	setCaseMessages,
	settleCase,
} from "../../../store/tables/cases.ts";
import type { ModerationLog } from "../moderation-log.ts";
import type { TempBans } from "../temp-bans.ts";
import { createByHand } from "./by-hand.ts";
import { type Case, idsText, type NewCase, storedText, toCase, toRow } from "./case.ts";
import { createCaseWorker } from "./case-worker.ts";
import { crossedRule } from "./escalation-rules.ts";
import { logCase, logChange } from "./log-case.ts";
import { createRecorder, type Recorder } from "./recorder.ts";

const maxReasonsRead = 200;
const maxReasons = 25;

export interface CasesOptions {
	connection: Connection;
	store: Store;
	log: Log;
	moderationLog: Pick<ModerationLog, "add">;
	/** Makes the bans of escalation rules. */
	bans: Pick<TempBans, "ban">;
	settings: {
		/** Names of the actions about which people are told by direct message, unless the tool call says otherwise. */
		tell: readonly string[];
		/** The operator's text on how to appeal, which direct messages to people contain. */
		appeal?: string | undefined;
		escalate?: readonly EscalationRule[] | undefined;
	};
	/** Returns the wall-clock time in epoch milliseconds. */
	now?: () => number;
	/**
	 * Age in milliseconds after which a case without an outcome is taken to belong to a killed process. The worker then
	 * looks for the outcome on Discord.
	 */
	decideAfterMs?: number;
	/** Waits in milliseconds before a failed step is retried: the first and the maximum. */
	backOffMs?: readonly [number, number];
}

/** Outcome of a case that was added with the state "asked". Fields that are left out keep their stored values. */
export interface CaseResult extends Partial<Pick<Case, "why" | "messageIds" | "channelIds" | "detail">> {
	state: Exclude<Case["state"], "asked">;
}

export interface Cases extends Recorder {
	/**
	 * Stores a case for an action that the bot takes by itself under the operator's settings, or that was taken on
	 * Discord. Returns the case's number. If a case with the same `source` is stored already, returns that case's
	 * number instead. Rejects with StoreUnavailable.
	 *
	 * The default state is "done". For an action that is yet to be taken, add the case with the state "asked" and a
	 * `source`, act, and call `settle`. If the bot is killed in between, the code that added the case must find the
	 * outcome after the restart. The case is written to the moderation log when its outcome is stored. With `quiet`,
	 * the caller writes the log entry.
	 */
	add(guildId: string, added: NewCase, quiet?: boolean): Promise<number>;
	/**
	 * Stores the outcome of an action whose case was added with the state "asked". Does nothing if the case has an
	 * outcome already. With `quiet`, the caller writes the moderation log entry. Rejects with StoreUnavailable.
	 */
	settle(guildId: string, number: number, result: CaseResult, quiet?: boolean): Promise<void>;
	/**
	 * Returns a case, even if it was deleted from the record. Like all methods below, rejects with StoreUnavailable.
	 */
	find(guildId: string, number: number): Promise<Case | undefined>;
	/** Returns the case that was created from this `source`. */
	findSource(guildId: string, source: string): Promise<Case | undefined>;
	/** Returns the cases that match the filter and are not deleted, newest first, starting after the case `before`. */
	list(
		guildId: string,
		filter: CaseFilter,
		page: { limit: number; before?: CasePosition | undefined },
	): Promise<Case[]>;
	/** Returns how many cases a person has whose action was done, by action. */
	countOf(guildId: string, userId: string): Promise<{ action: string; count: number }[]>;
	/** Returns how many cases match the filter and had their action done, by moderator and action. */
	countByModerator(guildId: string, filter: Omit<CaseFilter, "userId">): Promise<ModeratorCount[]>;
	/** Changes the reason of a case. Returns false if there is no such case. */
	edit(guildId: string, number: number, editorId: string, reason: string): Promise<boolean>;
	/**
	 * Marks a case as deleted, or restores it if `isRemoved` is false. The case stays in the database. Returns false if
	 * there is no such case or nothing changes.
	 */
	remove(guildId: string, number: number, editorId: string, isRemoved?: boolean): Promise<boolean>;
	/** Returns the latest changes of a case's record, newest first. */
	edits(guildId: string, number: number, limit: number): Promise<CaseEdit[]>;
	/** Returns up to 25 different reasons of the latest cases, those by this moderator first. */
	recentReasons(guildId: string, moderatorId?: string): Promise<string[]>;
	/** Subscribes to the events of a new discord.js client. */
	attach(client: Client): void;
	start(): void;
	/** Looks again for the outcomes of cases that had none so far, without waiting for the next attempt. */
	retry(): void;
	close(): Promise<void>;
}

export function createCases(options: CasesOptions): Cases {
	const { store, connection, moderationLog, settings, now = Date.now } = options;
	const { sql } = store;
	const rules = settings.escalate ?? [];

	async function insert(guildId: string, added: readonly NewCase[]) {
		const rows = added.map((one) => toRow(one, now()));
		const stored = await store.transaction(async (sql) => {
			const stored = await insertCases(sql, guildId, rows);
			for (const row of stored) await escalate(sql, row);
			return stored;
		});
		worker.wake();
		return stored;
	}

	async function escalate(sql: Sql, row: CaseRow): Promise<CaseRow | undefined> {
		if (row.state !== "done" || row.user_id === null) return undefined;
		const rule = await crossedRule(sql, row, rules, now());
		if (!rule) return undefined;
		const { action, durationMs, text } = rule;
		const ends = durationMs === undefined ? undefined : now() + durationMs;
		const next: NewCase = {
			action: action === "ban" && durationMs !== undefined ? "temp_ban" : action,
			userId: row.user_id,
			moderatorId: botId(),
			reason: `Rule "${text}" (case ${row.number})`,
			endsAt: ends,
			state: "asked",
			// The time of the causing case, so that a rule is not carried out long after it, such as after an outage.
			createdAt: row.created_at,
			source: `rule:${row.number}`,
		};
		const [inserted] = await insertCases(sql, row.guild_id, [toRow(next, now())]);
		return inserted;
	}

	function botId(): string {
		return connection.user?.id ?? "";
	}

	async function settle(
		guildId: string,
		number: number,
		result: CaseResult,
		quiet = false,
	): Promise<CaseRow | undefined> {
		const { row: settled, next } = await store.transaction(async (sql) => {
			await addResult(sql, guildId, number, result);
			const { state, why } = result;
			const row = await settleCase(sql, guildId, number, {
				state,
				why: why === undefined ? null : storedText(why),
			});
			return { row, next: row && (await escalate(sql, row)) };
		});
		worker.wake();
		if (settled && !quiet) logCase(moderationLog, toCase(settled));
		return next;
	}

	async function changeLogged(
		guildId: string,
		number: number,
		edit: (row: CaseRow) => Changed | undefined,
	): Promise<boolean> {
		const changed = await change(store, guildId, number, now(), edit);
		if (!changed) return false;
		const { row, what, editor_id } = changed;
		logChange(moderationLog, toCase(row), what, editor_id);
		return true;
	}

	const worker = createCaseWorker({ ...options, settle, insert });
	const recorder = createRecorder({
		...options,
		botId,
		worker,
		settle,
		insert,
	});

	const cases: Cases = {
		...recorder,
		async add(guildId, added, quiet = false) {
			const [row] = await insert(guildId, [added]);
			if (row) {
				if (row.state !== "asked" && !quiet) logCase(moderationLog, toCase(row));
				return row.number;
			}
			const { source = "" } = added;
			const stored = await selectCaseBySource(sql, guildId, source);
			if (!stored) throw new Error("the case was neither stored nor found");
			return stored.number;
		},
		async settle(...result) {
			await settle(...result);
		},
		async find(guildId, number) {
			const row = await selectCase(sql, guildId, number);
			return row && toCase(row);
		},
		async findSource(guildId, source) {
			const row = await selectCaseBySource(sql, guildId, source);
			return row && toCase(row);
		},
		async list(guildId, filter, page) {
			return (await selectCases(sql, guildId, filter, page)).map(toCase);
		},
		countOf: (guildId, userId) => countCasesOf(sql, guildId, userId),
		countByModerator: (guildId, filter) => countCasesByModerator(sql, guildId, filter),
		edit: (guildId, number, editor_id, reason) =>
			changeLogged(guildId, number, ({ deleted_at }) => ({
				what: "reason",
				editor_id,
				reason: storedText(reason),
				deleted_at,
			})),
		remove: (guildId, number, editor_id, isRemoved = true) =>
			changeLogged(guildId, number, ({ reason, deleted_at }) =>
				(deleted_at !== null) === isRemoved
					? undefined
					: {
							what: isRemoved ? "delete" : "restore",
							editor_id,
							reason,
							deleted_at: isRemoved ? now() : null,
						},
			),
		edits: (guildId, number, limit) => selectCaseEdits(sql, guildId, number, limit),
		async recentReasons(guildId, moderatorId) {
			const own = moderatorId ? await selectReasons(sql, guildId, moderatorId, maxReasonsRead) : [];
			const all = await selectReasons(sql, guildId, undefined, maxReasonsRead);
			return [...new Set([...own, ...all])].slice(0, maxReasons);
		},
		attach(client) {
			worker.attach(client);
			byHand.attach(client);
		},
		start() {
			worker.wake();
			byHand.start();
		},
		retry: worker.retry,
		async close() {
			await Promise.all([worker.close(), byHand.close()]);
		},
	};
	const byHand = createByHand({ ...options, cases });
	return cases;
}

async function addResult(
	sql: Sql,
	guildId: string,
	number: number,
	{ messageIds, channelIds, detail }: CaseResult,
): Promise<void> {
	if (!messageIds && !channelIds && detail === undefined) return;
	const row = await selectCase(sql, guildId, number);
	if (row?.state !== "asked") return;
	await setCaseMessages(sql, guildId, number, {
		message_ids: messageIds ? idsText(messageIds) : row.message_ids,
		channel_ids: channelIds ? idsText(channelIds) : row.channel_ids,
		detail: detail === undefined ? row.detail : storedText(detail),
	});
}

type Changed = Pick<CaseEdit, "what" | "editor_id"> & Pick<CaseRow, "reason" | "deleted_at">;

function change(
	store: Store,
	guildId: string,
	number: number,
	at: number,
	edit: (row: CaseRow) => Changed | undefined,
): Promise<(Changed & { row: CaseRow }) | undefined> {
	return store.transaction(async (sql) => {
		const row = await selectCase(sql, guildId, number);
		const changed = row && edit(row);
		if (!row || !changed) return undefined;
		const { what, editor_id, reason, deleted_at } = changed;
		const before = what === "reason" ? row.reason : null;
		await editCase(sql, { guild_id: guildId, number, at, editor_id, what, before }, { reason, deleted_at });
		return { ...changed, row: { ...row, reason, deleted_at } };
	});
}
