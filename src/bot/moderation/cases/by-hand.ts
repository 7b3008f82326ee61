// Records moderation cases for actions that people take by hand on Discord, or that other bots take: bans, unbans,
// kicks, prunes, timeouts and their removal, all from the guild's audit log. Role and nickname changes are not
// recorded: they are frequent, and other moderation bots do not record them either. After a reconnect or restart, the
// audit log entries that the bot missed are read, oldest first. Bans that staff decided on for chargebacks are recorded
// in the same way, because the feature `game` records no cases.

import { type APIAuditLogEntry, type AuditLogEvent, type Client, type Guild, SnowflakeUtil } from "discord.js";
import { auditLogPageSize, canReadAuditLog, onAuditLogEntry, readAuditLogPage } from "../../../discord/audit-log.ts";
import { GuildChecks } from "../../../discord/connection/session-events.ts";
import { compareIds } from "../../../guild-document/names/ids.ts";
import type { Sql } from "../../../lib/store/statement.ts";
import { Durable, type Step } from "../../store/durable.ts";
import { auditLogMarkRows, raiseMark } from "../../store/tables/audit-log-marks.ts";
import type { CasesOptions, NewCase } from "./case.ts";
import { caseOfEntry, entryKinds, isCandidate } from "./entry-case.ts";

/** Maximum number of a guild's audit log entries that wait in memory. Further ones are read from Discord later. */
const maxWaiting = 1_000;

export class ByHand {
	/** Audit log entries that are yet to be stored as cases, in order, by guild id. */
	readonly #waiting = new Map<string, APIAuditLogEntry[]>();
	readonly #checks: GuildChecks;
	readonly #work: Durable;
	readonly #sql: Sql;

	constructor(
		options: Pick<CasesOptions, "connection" | "store" | "log" | "backOffMs">,
		private readonly cases: { add(guildId: string, added: NewCase): Promise<unknown> },
	) {
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

	async #storeWaiting(guild: Guild, waiting: APIAuditLogEntry[]): Promise<void> {
		for (let [entry] = waiting; entry; [entry] = waiting) {
			await this.#addCase(guild, entry);
			waiting.shift();
			// The mark stays while entries may be missing, so that a restart reads them.
			if (waiting.length === 0 && this.#checks.isDone(guild.id)) await this.#saveMark(guild.id, entry.id);
		}
	}

	/** One minute before the entry `id`, because entries can appear out of order. */
	#saveMark(guild_id: string, id: string): Promise<void> {
		const before = BigInt(id) - (BigInt(disorderMs) << 22n);
		// The mark never moves back: entries from before the first start must not become cases.
		return raiseMark(this.#sql, { guild_id, wanted: "cases", entry_id: String(before > 0n ? before : 0n) });
	}

	async #addCase(guild: Guild, entry: APIAuditLogEntry): Promise<void> {
		const added = await caseOfEntry(this.#sql, guild, entry);
		if (added) await this.cases.add(guild.id, added);
	}

	async #check(guild: Guild): Promise<void> {
		if (!canReadAuditLog(guild)) return;
		const key = { guild_id: guild.id, wanted: "cases" } as const;
		const mark = await auditLogMarkRows.first(this.#sql, key);
		if (!mark) {
			const page = await readAuditLogPage(guild, { limit: 1 });
			// The current time if the log is empty.
			const entry_id = page?.[0]?.id ?? String(SnowflakeUtil.generate());
			if (page) await raiseMark(this.#sql, { ...key, entry_id });
			return;
		}
		for await (const entries of entriesAfter(guild, mark.entry_id, entryKinds)) {
			for (const entry of entries) if (isCandidate(guild, entry)) await this.#addCase(guild, entry);
			const newest = entries.at(-1)?.id;
			if (newest !== undefined) await this.#saveMark(guild.id, newest);
		}
	}

	attach(client: Client): void {
		onAuditLogEntry(client, (entry, guild) => {
			if (!entryKinds.includes(entry.action_type) || !isCandidate(guild, entry)) return;
			const waiting = this.#waiting.get(guild.id) ?? [];
			this.#waiting.set(guild.id, waiting);
			if (waiting.length < maxWaiting) waiting.push(entry);
			else this.#checks.repeat(guild.id);
			void this.#work.add(this.#step("entry", guild, () => this.#storeWaiting(guild, waiting)));
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

const maxPages = 10;
/** Entries may appear in the audit log this much after entries with higher ids, in milliseconds. A guess. */
const disorderMs = 60_000;

/** Newer than the id `mark`, in the order of their ids. Ends early if the bot may not read the audit log. */
async function* entriesAfter(
	guild: Guild,
	mark: string,
	kinds: readonly AuditLogEvent[],
): AsyncGenerator<APIAuditLogEntry[]> {
	let after: string | undefined = mark;
	while (after !== undefined) {
		const entries: APIAuditLogEntry[] = [];
		let horizon: string | undefined;
		for (const kind of kinds) {
			const { found, isAll } = await readKind(guild, kind, after);
			entries.push(...found);
			const last = found.at(-1)?.id;
			if (isAll || last === undefined) continue;
			if (horizon === undefined || compareIds(last, horizon) < 0) horizon = last;
		}
		const end = horizon;
		yield entries
			.filter(({ id }) => end === undefined || compareIds(id, end) <= 0)
			.sort((a, b) => compareIds(a.id, b.id));
		after = horizon;
	}
}

async function readKind(
	guild: Guild,
	action_type: AuditLogEvent,
	after: string,
): Promise<{ found: APIAuditLogEntry[]; isAll: boolean }> {
	const found: APIAuditLogEntry[] = [];
	for (let page = 0; page < maxPages; page += 1) {
		const from = found.at(-1)?.id ?? after;
		const query = { action_type, limit: auditLogPageSize, after: from };
		const more = (await readAuditLogPage(guild, query)) ?? [];
		// With `after`, Discord returns the oldest entries first.
		more.sort((a, b) => compareIds(a.id, b.id));
		found.push(...more);
		if (more.length < auditLogPageSize) return { found, isAll: true };
	}
	return { found, isAll: false };
}
