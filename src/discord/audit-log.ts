// https://docs.discord.com/developers/resources/audit-log#get-guild-audit-log

import {
	type APIAuditLogEntry,
	AuditLogEvent,
	type AuditLogOptionsType,
	type Client,
	Events,
	type Guild,
	type GuildAuditLogsEntry,
	makeURLSearchParams,
	PermissionFlagsBits,
	type RESTGetAPIAuditLogQuery,
	type RESTGetAPIAuditLogResult,
	Routes,
} from "discord.js";
import { mayBeAfter } from "../guild-document/names/ids.ts";
import { absentIf } from "./find.ts";

/** Discord's maximum. */
export const auditLogPageSize = 100;
const maxPages = 5;

/** As far as the cache shows. */
export function canReadAuditLog({ members: { me } }: Guild): boolean {
	return me?.permissions.has(PermissionFlagsBits.ViewAuditLog) ?? false;
}

/** Undefined if the bot may not read the audit log: it may have lost the permission. */
export async function readAuditLogPage(
	{ client, id }: Guild,
	query: RESTGetAPIAuditLogQuery,
): Promise<APIAuditLogEntry[] | undefined> {
	const log = await absentIf([403], () =>
		client.rest.get(Routes.guildAuditLog(id), { query: makeURLSearchParams(query) }),
	);
	return (log as RESTGetAPIAuditLogResult | undefined)?.audit_log_entries;
}

/**
 * The newest first, at most 500, down to the snowflake `afterId` or somewhat older; none if the bot may not read them.
 */
export async function readAuditLog(
	guild: Guild,
	action_type: AuditLogEvent,
	afterId: string,
): Promise<APIAuditLogEntry[]> {
	const entries: APIAuditLogEntry[] = [];
	for (let pages = 0; pages < maxPages; pages += 1) {
		const before = entries.at(-1)?.id;
		const page = await readAuditLogPage(guild, {
			action_type,
			limit: auditLogPageSize,
			...(before !== undefined && { before }),
		});
		entries.push(...(page ?? []));
		const oldest = entries.at(-1);
		if (!oldest || page?.length !== auditLogPageSize) break;
		if (!mayBeAfter(oldest.id, afterId)) break;
	}
	return entries;
}

/** New ones in the form of those that are read. */
export function onAuditLogEntry(client: Client, listener: (entry: APIAuditLogEntry, guild: Guild) => void): void {
	client.on(Events.GuildAuditLogEntryCreate, (entry, guild) => listener(rawEntry(entry), guild));
}

/** discord.js keeps the options as `extra`. */
function rawEntry({ id, action, executorId, targetId, reason, changes, extra }: GuildAuditLogsEntry): APIAuditLogEntry {
	const { id: of, name } = (extra ?? {}) as { id?: string; name?: string };
	const { removed, days } = (extra ?? {}) as { removed?: number; days?: number };
	return {
		id,
		action_type: action,
		user_id: executorId,
		target_id: targetId,
		...(reason !== null && { reason }),
		changes: changes.map(({ key, old, new: now }) => ({ key, old_value: old, new_value: now })),
		...(of !== undefined && { options: { id: of, role_name: name, type: (name ? "0" : "1") as AuditLogOptionsType } }),
		...(action === AuditLogEvent.MemberPrune && {
			options: { members_removed: String(removed), delete_member_days: String(days) },
		}),
	} as APIAuditLogEntry;
}
