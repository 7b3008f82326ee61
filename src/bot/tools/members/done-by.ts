// Who banned or timed out people, and when, from Discord's audit log. It keeps entries for 45 days; a page has at most 100.
// https://docs.discord.com/developers/resources/audit-log

import {
	type APIAuditLogEntry,
	AuditLogEvent,
	type Guild,
	type GuildMember,
	PermissionFlagsBits,
	SnowflakeUtil,
} from "discord.js";
import { readAuditLog } from "../../../discord/audit-log.ts";
import { time, userName } from "../../../discord/describe.ts";
import { lowestIdAt } from "../../../discord/ids.ts";
import { missingPermissions } from "../../../discord/permissions.ts";
import { toToolError } from "../../../discord/rest/errors.ts";

const maxTimeoutMs = 28 * 86_400_000;

/** Such as "2026-02-01T12:00:00Z, since 2026-01-31T12:00:00Z by @ada (ID: …)". */
export type TimeoutOf = (member: GuildMember) => string;

/** End, start and author of timeouts: https://docs.discord.com/developers/resources/guild#modify-guild-member */
export async function readTimeouts(guild: Guild, members: readonly GuildMember[]): Promise<TimeoutOf> {
	const ids = members.map(({ id }) => id);
	const by = await readDoneBy(guild, AuditLogEvent.MemberUpdate, ids, {
		afterId: String(lowestIdAt(Date.now() - maxTimeoutMs)),
		isMeant: ({ changes = [] }) =>
			changes.some(({ key, new_value }) => key === "communication_disabled_until" && new_value !== undefined),
	});
	return ({ id, communicationDisabledUntil }) => {
		const since = by.of(id);
		return `${time(communicationDisabledUntil)}${since ? `, since ${since}` : ""}`;
	};
}

/** What was done last to each user. Reads at most 500 entries down to `afterId`, and none without `userIds`. */
export async function readDoneBy(
	guild: Guild,
	action: AuditLogEvent,
	userIds: readonly string[],
	{ afterId = "0", isMeant = () => true }: { afterId?: string; isMeant?: (entry: APIAuditLogEntry) => boolean } = {},
) {
	const entries = new Map<string | null, APIAuditLogEntry>();
	const mayRead = missingPermissions(guild, undefined, PermissionFlagsBits.ViewAuditLog) === 0n;
	let whyUnknown = mayRead
		? "more than 45 days ago, or beyond the audit log's last 500 entries"
		: "the audit log needs VIEW_AUDIT_LOG";
	if (mayRead && userIds.length > 0)
		try {
			const read = await readAuditLog(guild, action, afterId);
			for (const entry of read.filter(isMeant).reverse()) entries.set(entry.target_id, entry);
		} catch (error) {
			const refusal = toToolError(error);
			if (!refusal) throw error;
			whyUnknown = refusal.message;
		}
	return {
		/** Such as "2026-01-31T12:00:00Z by @ada (ID: …)"; undefined if unknown. */
		of(userId: string): string | undefined {
			const entry = entries.get(userId);
			if (!entry) return undefined;
			const user = guild.client.users.cache.get(entry.user_id ?? "");
			return `${time(SnowflakeUtil.timestampFrom(entry.id))} by ${user ? userName(user) : (entry.user_id ?? "unknown")}`;
		},
		/** Why some are unknown. */
		whyUnknown,
	};
}
