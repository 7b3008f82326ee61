// Finds the outcome of cases that a killed process left open, from Discord's state and audit log. Repeats no action.

import { type APIAuditLogEntry, AuditLogEvent, type Guild, PermissionFlagsBits, SnowflakeUtil } from "discord.js";
import { canReadAuditLog, readAuditLog } from "../../../discord/audit-log.ts";
import { fetchMember } from "../../../discord/find.ts";
import type { Sql } from "../../../lib/store/statement.ts";
import { said } from "../../../texts/texts.ts";
import { NotNow } from "../../store/durable.ts";
import { tempBanRows } from "../../store/tables/temp-bans.ts";
import type { CaseAction } from "../../tool/case-record.ts";
import { fetchBan } from "../../tools/members/bans.ts";
import type { Case, CaseResult } from "./case.ts";
import { causeOf } from "./case-text.ts";

/** Only actions whose entries name the person. */
const entriesOf: Partial<Record<CaseAction, AuditLogEvent>> = {
	ban: AuditLogEvent.MemberBanAdd,
	temp_ban: AuditLogEvent.MemberBanAdd,
	unban: AuditLogEvent.MemberBanRemove,
	kick: AuditLogEvent.MemberKick,
	timeout: AuditLogEvent.MemberUpdate,
	remove_timeout: AuditLogEvent.MemberUpdate,
	nickname: AuditLogEvent.MemberUpdate,
	add_role: AuditLogEvent.MemberRoleUpdate,
	remove_role: AuditLogEvent.MemberRoleUpdate,
};

const changesOf: Partial<Record<CaseAction, string>> = {
	timeout: "communication_disabled_until",
	remove_timeout: "communication_disabled_until",
	nickname: "nick",
	add_role: "$add",
	remove_role: "$remove",
};

const skewMs = 10_000;
const actionMs = 60_000;

/** By Discord's state and audit log, otherwise "unknown". Rejects if requests to Discord fail. */
export async function decideCase(guild: Guild, one: Case, sql: Sql): Promise<CaseResult> {
	const { userId, action } = one;
	// Warnings and notes change nothing on Discord: they are done when the case is stored.
	if (action === "warn" || action === "note") return { state: "done" };
	if (userId === undefined || entriesOf[action] === undefined)
		return { state: "unknown", ...causeOf(said("case.why.stopped")) };
	const ban = action === "temp_ban" && (await tempBanRows.first(sql, { guild_id: guild.id, user_id: userId }));
	if (ban && ban.state === "asked") throw new NotNow("the ban is being made");
	const by = await recordedBy(guild, one, actionMs);
	if (by === "the bot") return { state: "done" };
	// If somebody else made the ban, it does not show that the bot did.
	if (by === undefined && (await isInForce(guild, userId, one))) return { state: "done" };
	const cause = causeOf(said("case.why.stopped_before"));
	return canReadAuditLog(guild)
		? { state: "not done", ...cause }
		: { state: "unknown", ...causeOf(said("case.why.stopped")) };
}

/** Within this many milliseconds after the case, if it was the bot. */
export async function recordedBy(
	guild: Guild,
	{ userId, action, createdAt, endsAt }: Case,
	withinMs: number,
): Promise<"the bot" | "somebody else" | undefined> {
	const type = entriesOf[action];
	if (type === undefined || !canReadAuditLog(guild)) return undefined;
	const from = createdAt - skewMs;
	const until = createdAt + withinMs + skewMs;
	const entries = await readAuditLog(guild, type, String(SnowflakeUtil.generate({ timestamp: from })));
	const fitting = entries.filter(
		(entry) =>
			entry.target_id === userId && SnowflakeUtil.timestampFrom(entry.id) >= from && isAbout({ action, endsAt }, entry),
	);
	const isOwn = ({ id, user_id }: APIAuditLogEntry) =>
		user_id === guild.client.user.id && SnowflakeUtil.timestampFrom(id) <= until;
	if (fitting.some(isOwn)) return "the bot";
	return fitting.some(({ user_id }) => user_id !== guild.client.user.id) ? "somebody else" : undefined;
}

function isAbout({ action, endsAt }: Pick<Case, "action" | "endsAt">, { changes = [] }: APIAuditLogEntry): boolean {
	const key = changesOf[action];
	if (key === undefined) return true;
	const change = changes.find((change) => change.key === key);
	if (!change) return false;
	const { new_value: value } = change;
	if (action === "timeout" && endsAt !== undefined) return isSameEnd(Date.parse(String(value)), endsAt);
	if (action === "timeout") return Boolean(value);
	return action !== "remove_timeout" || !value;
}

async function isInForce(guild: Guild, userId: string, { action, endsAt }: Case): Promise<boolean> {
	if (action === "ban" || action === "temp_ban") {
		if (!guild.members.me?.permissions.has(PermissionFlagsBits.BanMembers)) return false;
		return (await fetchBan(guild, userId)) !== undefined;
	}
	if (action !== "timeout" || endsAt === undefined) return false;
	const member = await fetchMember(guild, userId, true);
	return isSameEnd(member?.communicationDisabledUntilTimestamp, endsAt);
}

/** Whether two ends of a timeout in epoch milliseconds are the same, within one second: Discord may round them. */
export function isSameEnd(one: number | null | undefined, other: number): boolean {
	return typeof one === "number" && Math.abs(one - other) < 1_000;
}
