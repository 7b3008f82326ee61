// Background worker for moderation cases: finds the outcome of cases that a killed process left open, takes the actions
// of escalation rules, and stores what could not be stored while the database was unavailable.

import type { Client, Guild } from "discord.js";
import { createReconciler, type Step } from "../../../../lib/reconciler.ts";
import { onSessionOrGuild } from "../../../discord/connection/session-events.ts";
import { StoreUnavailable } from "../../../store/database/db-error.ts";
import { type CaseRow, selectAskedCases } from "../../../store/tables/cases.ts";
import { logFailedStep } from "../failed-step.ts";
import { type Case, type NewCase, toCase } from "./case.ts";
import type { CaseResult, CasesOptions } from "./cases.ts";
import { decideCase } from "./decide.ts";
import { createEscalation } from "./escalation.ts";
import { logCase } from "./log-case.ts";

const maxRead = 100;
const maxConcurrent = 5;
const maxWaiting = 1_000;
const shutdownGraceMs = 3_000;
const callMs = 40_000;

export interface WorkerOptions extends CasesOptions {
	insert(guildId: string, added: readonly NewCase[]): Promise<CaseRow[]>;
	settle(guildId: string, number: number, result: CaseResult): Promise<unknown>;
}

export interface CaseWorker {
	/**
	 * Reserves the cases that a tool call is about to store: the worker does not look for their outcomes. Call `opened`
	 * with the stored cases, and `end` when the call has ended; the worker then handles those without an outcome.
	 */
	hold(): { opened(rows: readonly CaseRow[]): void; end(): void };
	/** Stores the outcome of a case as soon as the database is available. */
	settleLater(guildId: string, number: number, result: CaseResult): void;
	/**
	 * Stores new cases as soon as the database is available. Returns false, and stores nothing, if too many are
	 * waiting.
	 */
	insertLater(guildId: string, added: readonly NewCase[]): boolean;
	wake(): void;
	/** Tries all cases without an outcome now, also those whose last attempt failed a moment ago. */
	retry(): void;
	attach(client: Client): void;
	close(): Promise<void>;
}

export function createCaseWorker(options: WorkerOptions): CaseWorker {
	const { connection, store, log, moderationLog, insert, settle } = options;
	const { now = Date.now, decideAfterMs = callMs } = options;
	const escalation = createEscalation(options);
	const running = new Set<string>();
	let opening = 0;
	const ends = new Map<string, { one: CaseKey; result: CaseResult }>();
	const unstored = new Map<number, { guildId: string; added: NewCase }>();
	let lastUnstored = 0;

	const reconciler = createReconciler({
		maxConcurrent,
		backOffMs: options.backOffMs ?? [500, 60_000],
		onScanFailure(error) {
			if (!(error instanceof StoreUnavailable)) log.error("could not load open cases from the database", { error });
		},
		async scan() {
			const due: Step[] = [];
			for (const [key, { one, result }] of ends)
				due.push({
					key,
					run: () =>
						attempt(one, async () => {
							await settle(one.guildId, one.number, result);
							ends.delete(key);
						}),
				});
			for (const [id, { guildId, added }] of unstored)
				due.push({
					// One at a time per guild, so that the case numbers are in order.
					key: `unstored ${guildId}`,
					run: () => attempt({ guildId }, () => storeWaiting(id, guildId, added)),
				});
			if (!connection.ready) return { due };
			const asked = await selectAskedCases(store.sql, maxRead);
			// The worker is woken when the cases of these calls are stored.
			if (opening > 0) return { due };
			let nextMs = Infinity;
			for (const row of asked) {
				const one = toCase(row);
				const guild = availableGuild(one.guildId);
				const key = keyOf(one);
				if (!guild || running.has(key) || ends.has(key)) continue;
				const waitMs = one.source ? 0 : one.createdAt + decideAfterMs - now();
				// At most `decideAfterMs`, because the system clock may have jumped.
				if (waitMs > 0) nextMs = Math.min(nextMs, waitMs, decideAfterMs);
				else due.push({ key, run: () => attempt(one, () => finish(guild, one)) });
			}
			return { due, nextMs };
		},
	});

	function availableGuild(id: string): Guild | undefined {
		const guild = connection.guilds.find((one) => one.id === id);
		return guild?.available ? guild : undefined;
	}

	async function storeWaiting(id: number, guildId: string, added: NewCase) {
		const rows = await insert(guildId, [added]);
		unstored.delete(id);
		for (const row of rows) logCase(moderationLog, toCase(row));
	}

	async function finish(guild: Guild, one: Case): Promise<void> {
		if (running.has(keyOf(one))) return;
		const result = one.source ? await escalation.carryOut(guild, one) : await decideCase(guild, one, store.sql);
		await settle(one.guildId, one.number, result);
	}

	/** Runs a step of the worker. Logs its error and rejects, so that the reconciler retries the step. */
	async function attempt({ guildId }: Pick<Case, "guildId">, work: () => Promise<void>): Promise<void> {
		try {
			await work();
		} catch (error) {
			logFailedStep(log, "could not finish a case", { guild: guildId }, error);
			throw error;
		}
	}

	return {
		hold() {
			let keys: string[] = [];
			opening += 1;
			return {
				opened(rows) {
					opening -= 1;
					keys = rows.map(({ guild_id: guildId, number }) => keyOf({ guildId, number }));
					for (const key of keys) running.add(key);
					if (opening === 0) reconciler.wake();
				},
				end() {
					for (const key of keys) running.delete(key);
					reconciler.wake();
				},
			};
		},
		settleLater(guildId, number, result) {
			const one = { guildId, number };
			if (ends.size < maxWaiting) ends.set(keyOf(one), { one, result });
			reconciler.wake();
		},
		insertLater(guildId, added) {
			if (unstored.size + added.length > maxWaiting) return false;
			for (const one of added) {
				lastUnstored += 1;
				unstored.set(lastUnstored, { guildId, added: one });
			}
			reconciler.wake();
			return true;
		},
		wake: reconciler.wake,
		retry: reconciler.retryAll,
		attach: (client) => onSessionOrGuild(client, reconciler.retryAll),
		close: () => reconciler.close(shutdownGraceMs),
	};
}

type CaseKey = Pick<Case, "guildId" | "number">;

function keyOf({ guildId, number }: CaseKey): string {
	return `${guildId} ${number}`;
}
