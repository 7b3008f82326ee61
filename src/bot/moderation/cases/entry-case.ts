// Converts entries of a guild's audit log to moderation cases.

import { type APIAuditLogEntry, AuditLogEvent, type Guild, SnowflakeUtil } from "discord.js";
import type { Sql } from "../../../lib/store/statement.ts";
import { type Said, said } from "../../../texts/texts.ts";
import { banReason, banReasonStart } from "../../game/chargeback-steps.ts";
import { selectBansFor } from "../../store/tables/chargebacks.ts";
import { hasSpamNear } from "../../store/tables/spam-incidents.ts";
import type { NewCase } from "./case.ts";

export const entryKinds: readonly AuditLogEvent[] = [
	AuditLogEvent.MemberBanAdd,
	AuditLogEvent.MemberBanRemove,
	AuditLogEvent.MemberKick,
	AuditLogEvent.MemberPrune,
	AuditLogEvent.MemberUpdate,
];

/** Of the bot itself only bans for chargebacks: its tools and rules record their cases themselves. */
export function isCandidate(guild: Guild, entry: APIAuditLogEntry): boolean {
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
