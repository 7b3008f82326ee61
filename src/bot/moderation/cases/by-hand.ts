// Records moderation cases for actions that people take by hand on Discord, or that other bots take: bans, unbans,
// kicks, prunes, timeouts and their removal, all from the guild's audit log. Role and nickname changes are not
// recorded: they are frequent, and other moderation bots do not record them either. After a reconnect or restart, the
// audit log entries that the bot missed are read, oldest first. Bans that staff decided on for chargebacks are recorded
// in the same way, because the feature `game` records no cases.

import { AuditLogEvent, type Client, Events, type Guild } from "discord.js";
import { canReadAuditLog } from "../../../discord/audit-log.ts";
import { GuildChecks } from "../../../discord/connection/session-events.ts";
import { compareIds } from "../../../guild-document/names/ids.ts";
import type { Sql } from "../../../lib/store/statement.ts";
import { Durable, type Step } from "../../store/durable.ts";
import { caseMarkRows } from "../../store/tables/case-marks.ts";
import type { CasesOptions, NewCase } from "./case.ts";
import { caseOfEntry, entryKinds, type HandEntry, isCandidate } from "./entry-case.ts";
import { entriesAfter, markBefore, newestEntryId } from "./missed-entries.ts";

interface ByHandOptions extends Pick<CasesOptions, "connection" | "store" | "log" | "backOffMs"> {
	cases: { add(guildId: string, added: NewCase): Promise<unknown> };
}

/** Maximum number of a guild's audit log entries that wait in memory. Further ones are read from Discord later. */
const maxWaiting = 1_000;

export class ByHand {
	/** Audit log entries that are yet to be stored as cases, in order, by guild id. */
	readonly #waiting = new Map<string, HandEntry[]>();
	readonly #marks = new Map<string, string>();
	readonly #checks: GuildChecks;
	readonly #work: Durable;
	readonly #sql: Sql;

	constructor(private readonly options: ByHandOptions) {
		const { connection, store } = options;
		this.#sql = store.sql;
		this.#checks = new GuildChecks(connection);
		this.#work = new Durable({
			...options,
			name: "audit logs",
			scan: async () =>
				connection.ready
					? this.#checks.due.map((guild) =>
							this.#step("check", guild, () => this.#checks.run(guild, () => this.#check(guild))),
						)
					: [],
		});
	}

	#step(lane: "check" | "entry", { id }: Guild, run: Step["run"]): Step {
		return { key: `${lane} ${id}`, lane, failure: "could not record an action by hand", fields: { guild: id }, run };
	}

	async #storeWaiting(guild: Guild, waiting: HandEntry[]): Promise<void> {
		for (let [entry] = waiting; entry; [entry] = waiting) {
			await this.#addCase(guild, entry);
			waiting.shift();
			// The mark stays while entries may be missing, so that a restart reads them.
			if (waiting.length === 0 && this.#checks.isDone(guild.id)) await this.#saveMark(guild.id, entry.id);
		}
	}

	/** One minute before the entry `id`, because entries can appear out of order. */
	async #saveMark(guildId: string, id: string): Promise<void> {
		const mark = markBefore(id);
		// The mark never moves back: entries from before the first start must not become cases.
		if (compareIds(mark, this.#marks.get(guildId) ?? "0") <= 0) return;
		await caseMarkRows.save(this.#sql, [{ guild_id: guildId, entry_id: mark }]);
		this.#marks.set(guildId, mark);
	}

	async #addCase(guild: Guild, entry: HandEntry): Promise<void> {
		const added = await caseOfEntry(this.#sql, guild, entry);
		if (added) await this.options.cases.add(guild.id, added);
	}

	async #check(guild: Guild): Promise<void> {
		if (!canReadAuditLog(guild)) return;
		const mark = (await caseMarkRows.first(this.#sql, { guild_id: guild.id }))?.entry_id;
		if (mark === undefined) {
			const newest = await newestEntryId(guild);
			if (newest === undefined) return;
			await caseMarkRows.save(this.#sql, [{ guild_id: guild.id, entry_id: newest }]);
			this.#marks.set(guild.id, newest);
			return;
		}
		this.#marks.set(guild.id, mark);
		for await (const entries of entriesAfter(guild, mark, entryKinds)) {
			for (const entry of entries) if (isCandidate(guild, entry)) await this.#addCase(guild, entry);
			const newest = entries.at(-1)?.id;
			if (newest !== undefined) await this.#saveMark(guild.id, newest);
		}
	}

	#note(guild: Guild, entry: HandEntry): void {
		if (!isCandidate(guild, entry)) return;
		const waiting = this.#waiting.get(guild.id) ?? [];
		this.#waiting.set(guild.id, waiting);
		if (waiting.length < maxWaiting) waiting.push(entry);
		else this.#checks.repeat(guild.id);
		void this.#work.add(this.#step("entry", guild, () => this.#storeWaiting(guild, waiting)));
	}

	attach(client: Client): void {
		client.on(Events.GuildAuditLogEntryCreate, (entry, guild) => {
			const { id, action, executorId, targetId, reason, changes } = entry;
			if (!entryKinds.includes(action)) return;
			const isPrune = action === AuditLogEvent.MemberPrune;
			this.#note(guild, {
				id,
				action,
				executorId,
				targetId,
				reason,
				...(isPrune && { pruned: entry.extra as HandEntry["pruned"] }),
				changes: changes.map((change) => ({ key: change.key, old: change.old, new: change.new })),
			});
		});
		this.#checks.attach(client, this.#work.retryAll, this.#work.wake);
	}

	start(): void {
		this.#work.wake();
	}

	close(): Promise<void> {
		return this.#work.close();
	}
}
