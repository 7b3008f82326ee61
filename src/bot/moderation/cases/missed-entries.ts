// Reads the entries of a guild's audit log that the bot missed, oldest first and without a limit on their number.
// https://docs.discord.com/developers/resources/audit-log#get-guild-audit-log

import { type APIAuditLogEntry, type AuditLogEvent, type Guild, SnowflakeUtil } from "discord.js";
import { auditLogPageSize, readAuditLogPage } from "../../../discord/audit-log.ts";
import { compareIds } from "../../../guild-document/names/ids.ts";

const maxPages = 10;
/** Entries may appear in the audit log this much after entries with higher ids, in milliseconds. A guess. */
const disorderMs = 60_000;

/** One minute older, because entries can appear out of order. */
export function markBefore(id: string): string {
	const before = BigInt(id) - (BigInt(disorderMs) << 22n);
	return String(before > 0n ? before : 0n);
}

/** An id for the current time if the log is empty. Undefined if the bot may not read the audit log. */
export async function newestEntryId(guild: Guild): Promise<string | undefined> {
	const page = await readAuditLogPage(guild, { limit: 1 });
	const now = () => String(SnowflakeUtil.generate());
	return page && (page[0]?.id ?? now());
}

/** Newer than the id `mark`, in the order of their ids. Ends early if the bot may not read the audit log. */
export async function* entriesAfter(
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
