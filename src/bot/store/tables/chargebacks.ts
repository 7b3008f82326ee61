// Table "chargebacks": reversed payments, and the progress of the bot with each in each guild. Columns that are not part of the event
// only move forward. Times are in epoch milliseconds.

import type { RowOf } from "../../../lib/store/row.ts";
import { hasRow, many, rowsOf, type Sql } from "../../../lib/store/statement.ts";

export type ChargebackEvent = Pick<
	Chargeback,
	"id" | "guild_id" | "uuid" | "username" | "chat_id" | "tier" | "happened_at"
>;

export type Decision = "ban" | "dismiss";

/** "absent": not in the guild; "none": no Discord account is linked. */
export type Restriction = "none" | "pending" | "absent" | "restricted";
/** "none": no Discord account is linked; "impossible": another attempt would not help. */
export type Ban = "none" | "pending" | "done" | "impossible";
/** "absent": not in the guild; "void": another chargeback of the person ended in a ban. */
export type Restoration = "none" | "pending" | "absent" | "restored" | "void";

/** Columns `…_error` hold why the last attempt failed, for people: a message (JSON). */
export interface Chargeback extends Omit<RowOf<typeof chargebacksTable, "chargebacks">, "saved_roles" | "lost_roles"> {
	/** 64 hexadecimal digits; the same if the chargeback is reported again, and another one in each guild. */
	id: string;
	/** ISO 8601, UTC. */
	happened_at: string;
	restriction: Restriction;
	/** Roles that the bot has removed, or is about to remove. */
	saved_roles: readonly string[];
	/** Replaces the removed roles; null before that. */
	restricted_role: string | null;
	/** Channel of the alert to staff; null until its message (`message_id`) is known to exist. */
	channel_id: string | null;
	/** Alerts deleted on Discord while still needed. */
	alerts_lost: number;
	/** Digest of the alert's content on Discord; null if unknown. */
	shown: string | null;
	decision: Decision | null;
	discord_ban: Ban;
	game_ban: Ban;
	restoration: Restoration;
	lost_roles: readonly string[];
	closed: 0 | 1;
}

export const chargebacksTable = `
	CREATE TABLE chargebacks (
		id TEXT NOT NULL PRIMARY KEY,
		guild_id TEXT NOT NULL,
		uuid TEXT NOT NULL,
		username TEXT NOT NULL,
		chat_id TEXT,
		tier TEXT NOT NULL,
		happened_at TEXT NOT NULL,
		received_at BIGINT NOT NULL,
		restriction TEXT NOT NULL,
		restriction_error TEXT,
		saved_roles TEXT NOT NULL,
		restricted_role TEXT,
		channel_id TEXT,
		message_id TEXT,
		alerts_lost INTEGER NOT NULL,
		shown TEXT,
		decision TEXT,
		decided_by TEXT,
		decided_at BIGINT,
		discord_ban TEXT NOT NULL,
		discord_ban_error TEXT,
		game_ban TEXT NOT NULL,
		game_ban_error TEXT,
		restoration TEXT NOT NULL,
		restoration_error TEXT,
		lost_roles TEXT NOT NULL,
		closed INTEGER NOT NULL
	);
	CREATE INDEX chargebacks_of ON chargebacks (guild_id, closed, chat_id)`;

type Row = Omit<Chargeback, "saved_roles" | "lost_roles"> & { saved_roles: string; lost_roles: string };

export const chargebackRows = rowsOf<Row, "id">("chargebacks", ["id"]);

function read(row: Row): Chargeback {
	return { ...row, saved_roles: JSON.parse(row.saved_roles), lost_roles: JSON.parse(row.lost_roles) };
}

export function insertChargeback(sql: Sql, event: ChargebackEvent, receivedAt: Date): Promise<boolean> {
	const onDiscord = event.chat_id === null ? "none" : "pending";
	const row = {
		...event,
		received_at: receivedAt.getTime(),
		restriction: onDiscord,
		saved_roles: "[]",
		alerts_lost: 0,
		discord_ban: onDiscord,
		game_ban: "pending",
		restoration: onDiscord,
		lost_roles: "[]",
		closed: 0,
	};
	return hasRow(sql`INSERT INTO chargebacks ${many([row])} ON CONFLICT (id) DO NOTHING RETURNING id`);
}

export async function selectChargeback(sql: Sql, id: string): Promise<Chargeback | undefined> {
	const row = await chargebackRows.first(sql, { id });
	return row && read(row);
}

/** Oldest first. */
export async function selectOpenChargebacks(sql: Sql, guildId: string): Promise<Chargeback[]> {
	return (await chargebackRows.all(sql, { guild_id: guildId, closed: 0 }, "received_at, id")).map(read);
}

export async function selectOpenChargebacksOf(sql: Sql, guildId: string, chatId: string): Promise<Chargeback[]> {
	const open = await selectOpenChargebacks(sql, guildId);
	return open.filter(({ chat_id }) => chat_id === chatId);
}

/** The decided ones that led to a ban, the latest first. */
export async function selectBansFor(sql: Sql, guild_id: string, chat_id: string): Promise<Chargeback[]> {
	return (await chargebackRows.all(sql, { guild_id, chat_id, decision: "ban" }, "decided_at DESC")).map(read);
}

/** Another chargeback of the user led to a ban, and is open or was decided after this one arrived. */
export async function hasBanBeside(sql: Sql, { id, guild_id, chat_id, received_at }: Chargeback): Promise<boolean> {
	const bans = await selectBansFor(sql, guild_id, chat_id ?? "");
	return bans.some((one) => one.id !== id && (one.closed === 0 || Number(one.decided_at) >= received_at));
}

/** Ids of the users with an open chargeback that took roles, or is about to, and they are not back. */
export async function selectRestricted(sql: Sql, guildId: string): Promise<Set<string>> {
	const rows = await sql<{ chat_id: string }>`
		SELECT DISTINCT chat_id FROM chargebacks
		WHERE guild_id = ${guildId} AND closed = ${0} AND chat_id IS NOT NULL
			AND restoration IN ${many(["pending", "absent"])}`;
	return new Set(rows.map(({ chat_id }) => chat_id));
}

/** Does not change a replacement role that is already stored. */
export async function saveRoles(sql: Sql, id: string, roles: readonly string[], restrictedRole: string): Promise<void> {
	await sql`
		UPDATE chargebacks SET saved_roles = ${JSON.stringify(roles)},
			restricted_role = COALESCE(restricted_role, ${restrictedRole})
		WHERE id = ${id}`;
}

/** False if the chargeback is unknown or decided. */
export async function decide(
	sql: Sql,
	{ id, guild_id }: Pick<Chargeback, "id" | "guild_id">,
	decision: Decision,
	by: string,
): Promise<boolean> {
	const decided = { decision, decided_by: by, decided_at: Date.now() };
	return (await chargebackRows.change(sql, { id }, decided, { guild_id, decision: null })) !== undefined;
}

export async function updateChargebacks(
	sql: Sql,
	ids: readonly string[],
	{ lost_roles, ...changes }: Partial<Omit<Chargeback, keyof ChargebackEvent | "saved_roles">>,
): Promise<void> {
	const roles = lost_roles && { lost_roles: JSON.stringify(lost_roles) };
	await sql`UPDATE chargebacks SET ${many([{ ...changes, ...roles }])} WHERE id IN ${many(ids)}`;
}

export type FailableStep = "restriction" | "discord_ban" | "game_ban" | "restoration";

/** Does nothing if the action has succeeded meanwhile. */
export async function setError(sql: Sql, id: string, step: FailableStep, error: string): Promise<void> {
	await sql`
		UPDATE chargebacks SET ${many([{ [`${step}_error`]: error }])}
		WHERE id = ${id} AND CASE ${step}
			WHEN 'restriction' THEN restriction <> 'restricted'
			WHEN 'discord_ban' THEN discord_ban = 'pending'
			WHEN 'game_ban' THEN game_ban = 'pending'
			ELSE restoration IN ('pending', 'absent') END`;
}
