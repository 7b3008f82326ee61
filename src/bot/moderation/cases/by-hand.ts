// Records moderation cases for actions that people take by hand on Discord, or that other bots take: bans, unbans,
// kicks, prunes, timeouts and their removal, all from the guild's audit log. Role and nickname changes are not
// recorded: they are frequent, and other moderation bots do not record them either. After a reconnect or restart, the
// audit log entries that the bot missed are read, oldest first. Bans that staff decided on for chargebacks are recorded
// in the same way, because the feature `game` records no cases.

import { type APIAuditLogEntry, AuditLogEvent, type Client, type Guild, SnowflakeUtil } from "discord.js";
import { auditLogPageSize, canReadAuditLog, onAuditLogEntry, readAuditLogPage } from "../../../discord/audit-log.ts";
import { GuildChecks } from "../../../discord/connection/session-events.ts";
import { compareIds } from "../../../guild-document/names/ids.ts";
import type { Sql } from "../../../lib/store/statement.ts";
import { type Said, said } from "../../../texts/texts.ts";
import { banReason, banReasonStart } from "../../game/chargeback-steps.ts";
import { Durable, DurablePart, type Step } from "../../store/durable.ts";
import { selectBansFor } from "../../store/tables/chargebacks.ts";
import { auditLogMarkRows, raiseMark } from "../../store/tables/incidents.ts";
import { hasSpamNear } from "../../store/tables/spam-incidents.ts";
import type { CasesOptions, NewCase } from "./case.ts";

/** Maximum number of a guild's audit log entries that wait in memory. Further ones are read from Discord later. */
const maxWaiting = 1_000;

export class ByHand extends DurablePart {
	/** Audit log entries that are yet to be stored as cases, in order, by guild id. */
	readonly #waiting = new Map<string, APIAuditLogEntry[]>();
	readonly #checks: GuildChecks;
	protected readonly work: Durable;
	readonly #sql: Sql;

	constructor(
		options: Pick<CasesOptions, "connection" | "store" | "log" | "backOffMs">,
		private readonly cases: { add(guildId: string, added: NewCase): Promise<unknown> },
	) {
		super();
		const { connection, store } = options;
		this.#sql = store.sql;
		this.#checks = new GuildChecks(connection);
		this.work = new Durable({
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
		const entries = await entriesAfter(guild, mark.entry_id);
		for (const entry of entries) if (isCandidate(guild, entry)) await this.#addCase(guild, entry);
		const newest = entries.at(-1)?.id;
		if (newest !== undefined) await this.#saveMark(guild.id, newest);
	}

	attach(client: Client): void {
		onAuditLogEntry(client, (entry, guild) => {
			if (!entryKinds.includes(entry.action_type) || !isCandidate(guild, entry)) return;
			const waiting = this.#waiting.getOrInsert(guild.id, []);
			if (waiting.length < maxWaiting) waiting.push(entry);
			else this.#checks.repeat(guild.id);
			void this.work.add(this.#step("entry", guild, () => this.#storeWaiting(guild, waiting)));
		});
		this.#checks.attach(client, this.work.retryAll, this.work.wake);
	}
}

/** Entries may appear in the audit log this much after entries with higher ids, in milliseconds. A guess. */
const disorderMs = 60_000;

const byId = (a: APIAuditLogEntry, b: APIAuditLogEntry) => compareIds(a.id, b.id);

/** Newer than the id `mark`, oldest first; none if the bot may not read the audit log. */
async function entriesAfter(guild: Guild, mark: string): Promise<APIAuditLogEntry[]> {
	const entries: APIAuditLogEntry[] = [];
	for (const action_type of entryKinds) {
		let page: APIAuditLogEntry[];
		let after = mark;
		do {
			page = (await readAuditLogPage(guild, { action_type, limit: auditLogPageSize, after })) ?? [];
			// With `after`, Discord returns the oldest entries first.
			after = page.toSorted(byId).at(-1)?.id ?? after;
			entries.push(...page);
		} while (page.length === auditLogPageSize);
	}
	return entries.sort(byId);
}

const entryKinds: readonly AuditLogEvent[] = [
	AuditLogEvent.MemberBanAdd,
	AuditLogEvent.MemberBanRemove,
	AuditLogEvent.MemberKick,
	AuditLogEvent.MemberPrune,
	AuditLogEvent.MemberUpdate,
];

/** Of the bot itself only bans for chargebacks: its tools and rules record their cases themselves. */
function isCandidate(guild: Guild, entry: APIAuditLogEntry): boolean {
	if (actionOf(entry) === undefined || entry.user_id === null) return false;
	if (entry.user_id !== guild.client.user.id) return true;
	return entry.action_type === AuditLogEvent.MemberBanAdd && entry.reason?.startsWith(banReasonStart) === true;
}

/** Undefined if the entry must not be recorded. Rejects with StoreUnavailable. */
export async function caseOfEntry(sql: Sql, guild: Guild, entry: APIAuditLogEntry): Promise<NewCase | undefined> {
	const { id, user_id: executorId, target_id: targetId, reason } = entry;
	const change = actionOf(entry);
	if (executorId === null || !change) return undefined;
	const isOwn = executorId === guild.client.user.id;
	const bans = isOwn ? await selectBansFor(sql, guild.id, targetId ?? "") : [];
	const moderatorId = isOwn ? bans.find((ban) => banReason(ban) === reason)?.decided_by : executorId;
	if (!moderatorId) return undefined;
	const createdAt = SnowflakeUtil.timestampFrom(id);
	const isOfBot = guild.client.users.cache.get(executorId)?.bot ?? false;
	if (change.action === "timeout" && isOfBot) {
		// That bot may have found the same spam, which is a case of this one.
		const person = { guild_id: guild.id, user_id: targetId ?? "" };
		if (await hasSpamNear(sql, person, createdAt)) return undefined;
	}
	return {
		...change,
		...(targetId !== null && { userId: targetId }),
		moderatorId,
		reason,
		createdAt,
		source: `entry:${id}`,
	};
}

/** How many members, and of how many days without activity. Undefined if the entry is about something else. */
export function prunedIn({ action_type, options }: APIAuditLogEntry): Said[] | undefined {
	if (action_type !== AuditLogEvent.MemberPrune) return undefined;
	return [
		said("case.detail.members", { count: Number(options?.members_removed ?? 0) }),
		said("case.detail.inactive", { count: Number(options?.delete_member_days ?? 0) }),
	];
}

/** All but prunes must have a target. */
function actionOf(entry: APIAuditLogEntry): Pick<NewCase, "action" | "endsAt" | "detail"> | undefined {
	const { action_type: action, changes = [], target_id: targetId } = entry;
	const pruned = prunedIn(entry);
	if (pruned) return { action: "prune", detail: pruned };
	if (targetId === null) return undefined;
	if (action === AuditLogEvent.MemberBanAdd) return { action: "ban" };
	if (action === AuditLogEvent.MemberBanRemove) return { action: "unban" };
	if (action === AuditLogEvent.MemberKick) return { action: "kick" };
	const timeout = changes.find(({ key }) => key === "communication_disabled_until");
	if (!timeout) return undefined;
	// The change that removes a timeout has no new value.
	if (!timeout.new_value) return { action: "remove_timeout" };
	const endsAt = Date.parse(String(timeout.new_value));
	return Number.isNaN(endsAt) ? { action: "timeout" } : { action: "timeout", endsAt };
}
