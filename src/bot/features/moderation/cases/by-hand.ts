// Records moderation cases for actions that people take by hand on Discord, or that other bots take: bans, unbans,
// kicks, prunes, timeouts and their removal, all from the guild's audit log. Role and nickname changes are not
// recorded: they are frequent, and other moderation bots do not record them either. After a reconnect or restart, the
// audit log entries that the bot missed are read, oldest first. Bans that staff decided on for chargebacks are recorded
// in the same way, because the feature `game` records no cases.

import { AuditLogEvent, type Client, Events, type Guild } from "discord.js";
import { createReconciler, type Step } from "../../../../lib/reconciler.ts";
import { canReadAuditLog } from "../../../discord/audit-log.ts";
import { onSessionOrGuild } from "../../../discord/connection/session-events.ts";
import { compareIds } from "../../../discord/ids.ts";
import { saveCaseMark, selectCaseMark } from "../../../store/tables/case-marks.ts";
import { logFailedStep } from "../failed-step.ts";
import type { Cases, CasesOptions } from "./cases.ts";
import { caseOfEntry, entryKinds, type HandEntry, isCandidate } from "./entry-case.ts";
import { entriesAfter, markBefore, newestEntryId } from "./missed-entries.ts";

export interface ByHandOptions extends Pick<CasesOptions, "connection" | "store" | "log" | "backOffMs"> {
	cases: Pick<Cases, "add">;
}

const maxWaiting = 1_000;
const maxConcurrent = 5;
const shutdownGraceMs = 2_000;

export function createByHand(options: ByHandOptions) {
	const { connection, store, log, cases } = options;
	const { sql } = store;
	const waiting = new Map<string, { guild: Guild; entry: HandEntry }>();
	const unchecked = new Set<string>();
	const checking = new Set<string>();
	const marks = new Map<string, string>();
	let isAnyUnchecked = true;
	const reconciler = createReconciler({
		maxConcurrent,
		backOffMs: options.backOffMs ?? [1_000, 60_000],
		onScanFailure(error) {
			log.error("could not look for moderation actions in the audit log", {
				error,
			});
		},
		async scan() {
			const due: Step[] = [];
			const first = new Map<string, string>();
			// One entry at a time per guild, so that case numbers are in the order of the entries.
			for (const [id, { guild }] of waiting) if (!first.has(guild.id)) first.set(guild.id, id);
			for (const [guildId, id] of first)
				due.push({
					key: `entry ${guildId}`,
					run: () => attempt(guildId, () => storeEntry(id)),
				});
			if (!connection.ready) return { due };
			if (isAnyUnchecked) for (const { id } of connection.guilds) unchecked.add(id);
			isAnyUnchecked = false;
			for (const guild of connection.guilds)
				if (unchecked.has(guild.id) && guild.available)
					due.push({
						key: `check ${guild.id}`,
						lane: "check",
						run: () => attempt(guild.id, () => check(guild)),
					});
			return { due };
		},
	});

	async function storeEntry(id: string): Promise<void> {
		const { guild, entry } = waiting.get(id) ?? {};
		if (!guild || !entry) return;
		await addCase(guild, entry);
		waiting.delete(id);
		const isLast = !waiting.values().some((one) => one.guild.id === guild.id);
		// The mark stays while entries may be missing, so that a restart reads them.
		const isChecked = !unchecked.has(guild.id) && !checking.has(guild.id);
		if (isLast && isChecked && !isAnyUnchecked) await saveMark(guild.id, id);
	}

	/**
	 * Stores that the guild's audit log has been recorded up to one minute before the entry `id`, because entries can
	 * appear out of order.
	 */
	async function saveMark(guildId: string, id: string): Promise<void> {
		const mark = markBefore(id);
		// The mark never moves back: entries from before the first start must not become cases.
		if (compareIds(mark, marks.get(guildId) ?? "0") <= 0) return;
		await saveCaseMark(sql, guildId, mark);
		marks.set(guildId, mark);
	}

	async function addCase(guild: Guild, entry: HandEntry): Promise<void> {
		const added = await caseOfEntry(sql, guild, entry);
		if (added) await cases.add(guild.id, added);
	}

	async function check(guild: Guild): Promise<void> {
		// Before the requests, because the bot may miss further entries during them.
		unchecked.delete(guild.id);
		if (!canReadAuditLog(guild)) return;
		checking.add(guild.id);
		try {
			const mark = await selectCaseMark(sql, guild.id);
			if (mark === undefined) {
				const newest = await newestEntryId(guild);
				if (newest === undefined) return;
				await saveCaseMark(sql, guild.id, newest);
				marks.set(guild.id, newest);
				return;
			}
			marks.set(guild.id, mark);
			for await (const entries of entriesAfter(guild, mark, entryKinds)) {
				for (const entry of entries) if (isCandidate(guild, entry)) await addCase(guild, entry);
				const newest = entries.at(-1)?.id;
				if (newest !== undefined) await saveMark(guild.id, newest);
			}
		} catch (error) {
			unchecked.add(guild.id);
			throw error;
		} finally {
			checking.delete(guild.id);
		}
	}

	async function attempt(guild: string, work: () => Promise<void>): Promise<void> {
		try {
			await work();
		} catch (error) {
			const what = "could not record an action by hand";
			logFailedStep(log, what, { guild }, error);
			throw error;
		}
	}

	function note(guild: Guild, entry: HandEntry): void {
		if (!isCandidate(guild, entry)) return;
		if (waiting.size < maxWaiting) waiting.set(entry.id, { guild, entry });
		else unchecked.add(guild.id);
		reconciler.wake();
	}

	return {
		attach(client: Client): void {
			client.on(Events.GuildAuditLogEntryCreate, (entry, guild) => {
				const { id, action, executorId, targetId, reason, changes } = entry;
				if (!entryKinds.includes(action)) return;
				const isPrune = action === AuditLogEvent.MemberPrune;
				note(guild, {
					id,
					action,
					executorId,
					targetId,
					reason,
					...(isPrune && { pruned: entry.extra as HandEntry["pruned"] }),
					changes: changes.map((change) => ({
						key: change.key,
						old: change.old,
						new: change.new,
					})),
				});
			});
			// Events from before a new Gateway session may be lost.
			const isNewSession = (shard?: number) => {
				if (shard === undefined) isAnyUnchecked = true;
				for (const guild of connection.guilds) if (guild.shardId === shard) unchecked.add(guild.id);
				reconciler.retryAll();
			};
			onSessionOrGuild(client, isNewSession, ({ id }) => {
				unchecked.add(id);
				reconciler.wake();
			});
		},
		start: reconciler.wake,
		close: () => reconciler.close(shutdownGraceMs),
	};
}
