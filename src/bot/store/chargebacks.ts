// The table of chargebacks: payments that were taken back, and how far the bot has got with each. Every column but the
// event's own moves forward only.

import type { Migration } from "./migrations.ts";
import { many, type Sql } from "./statement.ts";

/** What the game server tells. */
export interface ChargebackEvent {
	/** The same for the same event: 64 hexadecimal digits. */
	id: string;
	uuid: string;
	username: string;
	/** The Discord account that is linked to it; null for none. */
	chat_id: string | null;
	tier: string;
	/** When the payment was taken back: ISO 8601, UTC. */
	happened_at: string;
}

export type Decision = "ban" | "dismiss";

/** "absent": they are not in the guild. "none": no account is linked. */
export type Restriction = "none" | "pending" | "absent" | "restricted";
/** "impossible": trying again would not help. */
export type Ban = "none" | "pending" | "done" | "impossible";
/** "void": another chargeback of theirs ended in a ban. */
export type Restoration = "none" | "pending" | "absent" | "restored" | "void";

/** What is pending, and what went wrong with it the last time, for people. */
export interface Chargeback extends ChargebackEvent {
	/** Epoch milliseconds. */
	received_at: number;
	restriction: Restriction;
	restriction_error: string | null;
	/** The roles that were, or are about to be, taken away. */
	saved_roles: readonly string[];
	/** The role that took their place. */
	restricted_role: string | null;
	/** Where the alert is; null until it is known to be there. */
	channel_id: string | null;
	message_id: string | null;
	/** How many alerts somebody has deleted. */
	alerts_lost: number;
	/** What the alert is known to show: a digest. */
	shown: string | null;
	decision: Decision | null;
	decided_by: string | null;
	/** Epoch milliseconds. */
	decided_at: number | null;
	/** The two halves of a ban. */
	discord_ban: Ban;
	discord_ban_error: string | null;
	game_ban: Ban;
	game_ban_error: string | null;
	/** What a dismissal undoes. */
	restoration: Restoration;
	restoration_error: string | null;
	/** The saved roles that could not be given back. */
	lost_roles: readonly string[];
	/** 1 when there is nothing left to do. */
	closed: 0 | 1;
}

export const chargebacksTable: Migration = {
	number: 3,
	name: "chargebacks",
	text: `
		CREATE TABLE chargebacks (
			id TEXT NOT NULL PRIMARY KEY,
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
		CREATE INDEX chargebacks_of ON chargebacks (closed, chat_id)`,
};

type Row = Omit<Chargeback, "saved_roles" | "lost_roles"> & {
	saved_roles: string;
	lost_roles: string;
};

function read(row: Row): Chargeback {
	return {
		...row,
		saved_roles: JSON.parse(row.saved_roles),
		lost_roles: JSON.parse(row.lost_roles),
	};
}

/** One that is there already stays as it is; gives whether it was new. */
export async function insertChargeback(
	sql: Sql,
	event: ChargebackEvent,
	receivedAt: Date,
): Promise<boolean> {
	const onDiscord = event.chat_id === null ? "none" : "pending";
	const row: Row = {
		...event,
		received_at: receivedAt.getTime(),
		...{ restriction: onDiscord, restriction_error: null },
		...{ saved_roles: "[]", restricted_role: null },
		...{ channel_id: null, message_id: null, alerts_lost: 0, shown: null },
		...{ decision: null, decided_by: null, decided_at: null },
		...{ discord_ban: onDiscord, discord_ban_error: null },
		...{ game_ban: "pending", game_ban_error: null },
		...{ restoration: onDiscord, restoration_error: null, lost_roles: "[]" },
		closed: 0,
	};
	const inserted = await sql`
		INSERT INTO chargebacks ${many([{ ...row }])} ON CONFLICT (id) DO NOTHING RETURNING id`;
	return inserted.length > 0;
}

export async function selectChargeback(
	sql: Sql,
	id: string,
): Promise<Chargeback | undefined> {
	const [row] = await sql<Row>`SELECT * FROM chargebacks WHERE id = ${id}`;
	return row && read(row);
}

/** All for which something is left to do, oldest first. */
export async function selectOpenChargebacks(sql: Sql): Promise<Chargeback[]> {
	const rows = await sql<Row>`
		SELECT * FROM chargebacks WHERE closed = ${0} ORDER BY received_at, id`;
	return rows.map(read);
}

/** The same, of one person. */
export async function selectOpenChargebacksOf(
	sql: Sql,
	chatId: string,
): Promise<Chargeback[]> {
	const rows = await sql<Row>`
		SELECT * FROM chargebacks WHERE closed = ${0} AND chat_id = ${chatId} ORDER BY received_at, id`;
	return rows.map(read);
}

/** Whether another chargeback of the person was open at some time since this one came, and ended in a ban. */
export async function hasBanBeside(
	sql: Sql,
	{ id, chat_id, received_at }: Chargeback,
): Promise<boolean> {
	const found = await sql`
		SELECT id FROM chargebacks
		WHERE chat_id = ${chat_id} AND id <> ${id} AND decision = ${"ban"}
			AND (closed = ${0} OR decided_at >= ${received_at})
		LIMIT 1`;
	return found.length > 0;
}

/** Whether somebody has decided since then to ban the person for a chargeback. */
export async function hasBanSince(
	sql: Sql,
	chatId: string,
	since: number,
): Promise<boolean> {
	const found = await sql`
		SELECT id FROM chargebacks
		WHERE chat_id = ${chatId} AND decision = ${"ban"} AND decided_at >= ${since}
		LIMIT 1`;
	return found.length > 0;
}

/** Whether a chargeback of the person is open whose roles were not given back. */
export async function hasRestriction(
	sql: Sql,
	chatId: string,
): Promise<boolean> {
	const found = await sql`
		SELECT id FROM chargebacks
		WHERE chat_id = ${chatId} AND closed = ${0}
			AND restoration IN ${many(["pending", "absent"])}
		LIMIT 1`;
	return found.length > 0;
}

/** All of whom that holds. */
export async function selectRestricted(sql: Sql): Promise<Set<string>> {
	const rows = await sql<{ chat_id: string }>`
		SELECT DISTINCT chat_id FROM chargebacks
		WHERE closed = ${0} AND chat_id IS NOT NULL
			AND restoration IN ${many(["pending", "absent"])}`;
	return new Set(rows.map(({ chat_id }) => chat_id));
}

/** Notes the roles before they are taken away. A restricted role that they may still have from before stays noted. */
export async function saveRoles(
	sql: Sql,
	id: string,
	roles: readonly string[],
	restrictedRole: string,
): Promise<void> {
	await sql`
		UPDATE chargebacks SET saved_roles = ${JSON.stringify(roles)},
			restricted_role = COALESCE(restricted_role, ${restrictedRole})
		WHERE id = ${id}`;
}

export async function setAbsent(sql: Sql, id: string): Promise<void> {
	await sql`
		UPDATE chargebacks SET restriction = ${"absent"}, restriction_error = ${null} WHERE id = ${id}`;
}

/** They have this role, and none that was noted before. */
export async function setRestricted(
	sql: Sql,
	id: string,
	restrictedRole: string,
): Promise<void> {
	await sql`
		UPDATE chargebacks
		SET restriction = ${"restricted"}, restriction_error = ${null}, restricted_role = ${restrictedRole}
		WHERE id = ${id}`;
}

/** The first decision stays; gives whether this is the one. */
export async function decide(
	sql: Sql,
	id: string,
	decision: Decision,
	by: string,
): Promise<boolean> {
	const decided = await sql`
		UPDATE chargebacks SET decision = ${decision}, decided_by = ${by}, decided_at = ${Date.now()}
		WHERE id = ${id} AND decision IS NULL RETURNING id`;
	return decided.length > 0;
}

export async function setDiscordBan(
	sql: Sql,
	id: string,
	state: Ban,
	error: string | null = null,
): Promise<void> {
	await sql`
		UPDATE chargebacks SET discord_ban = ${state}, discord_ban_error = ${error} WHERE id = ${id}`;
}

export async function setGameBan(
	sql: Sql,
	id: string,
	state: Ban,
): Promise<void> {
	await sql`
		UPDATE chargebacks SET game_ban = ${state}, game_ban_error = ${null} WHERE id = ${id}`;
}

export async function setRestoration(
	sql: Sql,
	ids: readonly string[],
	state: Restoration,
	lostRoles: readonly string[] = [],
): Promise<void> {
	await sql`
		UPDATE chargebacks
		SET restoration = ${state}, restoration_error = ${null}, lost_roles = ${JSON.stringify(lostRoles)}
		WHERE id IN ${many(ids)}`;
}

/** What can go wrong for a while. */
export type Failing =
	| "restriction"
	| "discord_ban"
	| "game_ban"
	| "restoration";

/** What has gone wrong; what is done meanwhile stays done. */
export async function setError(
	sql: Sql,
	id: string,
	what: Failing,
	error: string,
): Promise<void> {
	if (what === "restriction")
		await sql`
			UPDATE chargebacks SET restriction_error = ${error} WHERE id = ${id} AND restriction <> ${"restricted"}`;
	else if (what === "discord_ban")
		await sql`
			UPDATE chargebacks SET discord_ban_error = ${error} WHERE id = ${id} AND discord_ban = ${"pending"}`;
	else if (what === "game_ban")
		await sql`
			UPDATE chargebacks SET game_ban_error = ${error} WHERE id = ${id} AND game_ban = ${"pending"}`;
	else
		await sql`
			UPDATE chargebacks SET restoration_error = ${error}
			WHERE id = ${id} AND restoration IN ${many(["pending", "absent"])}`;
}

/** Where the alert is, and what it shows; null where that is not known. */
export async function setAlert(
	sql: Sql,
	id: string,
	alert: { channelId: string; messageId: string; shown: string | null },
): Promise<void> {
	await sql`
		UPDATE chargebacks
		SET channel_id = ${alert.channelId}, message_id = ${alert.messageId}, shown = ${alert.shown}
		WHERE id = ${id}`;
}

/** It is not known any more whether these alerts are there. */
export async function doubtAlerts(
	sql: Sql,
	ids: readonly string[],
): Promise<void> {
	await sql`UPDATE chargebacks SET shown = ${null} WHERE id IN ${many(ids)}`;
}

/** Somebody deleted the alert. */
export async function loseAlert(sql: Sql, id: string): Promise<void> {
	await sql`
		UPDATE chargebacks
		SET channel_id = ${null}, message_id = ${null}, shown = ${null}, alerts_lost = alerts_lost + 1
		WHERE id = ${id}`;
}

/** There is nothing left to do. */
export async function closeChargeback(sql: Sql, id: string): Promise<void> {
	await sql`UPDATE chargebacks SET closed = ${1} WHERE id = ${id}`;
}
