// Table "audit_log_marks": for each guild and what the bot looks for, up to which entry of Discord's audit log it has looked, so
// that after a restart it finds what it missed, and finds nothing twice. `wanted`: actions by hand, which become cases, or mass
// deletions. Table "incidents": mass deletions and mass bans by one account, what the bot did about them, and whether staff were
// told. Times are in epoch milliseconds.

import type { RowOf } from "../../../lib/store/row.ts";
import { hasRow, many, rowsOf, type Sql } from "../../../lib/store/statement.ts";

export const incidentTables = `
	CREATE TABLE audit_log_marks (
		guild_id TEXT NOT NULL,
		wanted TEXT NOT NULL,
		entry_id TEXT NOT NULL,
		PRIMARY KEY (guild_id, wanted)
	);
	CREATE TABLE incidents (
		guild_id TEXT NOT NULL,
		id TEXT NOT NULL,
		kind TEXT NOT NULL,
		actor_id TEXT,
		count INTEGER NOT NULL,
		names TEXT NOT NULL,
		first_at BIGINT NOT NULL,
		last_at BIGINT NOT NULL,
		backup INTEGER,
		backup_at BIGINT,
		roles TEXT,
		done TEXT,
		told INTEGER NOT NULL,
		PRIMARY KEY (guild_id, id)
	)`;

interface MarkRow extends RowOf<typeof incidentTables, "audit_log_marks"> {
	wanted: "cases" | "deletions";
}

/** None of a guild whose audit log the bot has not searched yet. */
export const auditLogMarkRows = rowsOf<MarkRow, "guild_id" | "wanted">("audit_log_marks", ["guild_id", "wanted"]);

/** Does nothing if the stored id is higher. */
export async function raiseMark(sql: Sql, row: MarkRow): Promise<void> {
	await sql`
		INSERT INTO audit_log_marks ${many([row])}
		ON CONFLICT (guild_id, wanted) DO UPDATE SET entry_id = excluded.entry_id
		WHERE LENGTH(excluded.entry_id) > LENGTH(audit_log_marks.entry_id)
			OR (LENGTH(excluded.entry_id) = LENGTH(audit_log_marks.entry_id)
				AND excluded.entry_id > audit_log_marks.entry_id)`;
}

export interface IncidentRow extends RowOf<typeof incidentTables, "incidents"> {
	/** Of the audit log entry, or else the thing, that made it one. */
	id: string;
	kind: "deletions" | "bans";
	/** Null if the bot may not read the audit log. */
	actor_id: string | null;
	/** JSON: the first names of what was deleted, or the first ids of who was banned. */
	names: string;
	/** Number of the backup from before. */
	backup: number | null;
	/** JSON: ids of the roles that the bot is taking or took from the account; empty once they were given back. */
	roles: string | null;
	/** JSON: what the bot did, as messages; null until it has done it. */
	done: string | null;
	told: 0 | 1;
}

export const incidentRows = rowsOf<IncidentRow, "guild_id" | "id">("incidents", ["guild_id", "id"]);

/** Does nothing if it is stored, or another part of it up to `windowMs` away: `settleMs` if the account lost roles then. */
export async function insertIncident(sql: Sql, row: IncidentRow, windowMs: number, settleMs: number): Promise<void> {
	const { guild_id, kind, actor_id, first_at, last_at } = row;
	const isKnown = await hasRow(sql`
		SELECT id FROM incidents WHERE guild_id = ${guild_id} AND kind = ${kind} AND actor_id = ${actor_id}
			AND (last_at > ${first_at - settleMs} OR (roles IS NULL AND last_at > ${first_at - windowMs}))
			AND first_at < ${last_at + windowMs}`);
	if (!isKnown) await sql`INSERT INTO incidents ${many([row])} ON CONFLICT DO NOTHING`;
}

/** Whether the bot has acted on another incident of the account since an hour before; `told`: and told staff. */
export function hasOther(sql: Sql, { guild_id, actor_id, id, first_at }: IncidentRow, told: 0 | 1): Promise<boolean> {
	return hasRow(sql`
		SELECT id FROM incidents WHERE guild_id = ${guild_id} AND actor_id = ${actor_id} AND id <> ${id}
			AND last_at > ${first_at - 3_600_000} AND COALESCE(done, '[]') <> '[]' AND told >= ${told}`);
}
