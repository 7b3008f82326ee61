// Table "chargebacks": reversed payments, and the progress of the bot with each. Columns that are not part of the event
// only move forward.

import { many, type Sql } from "../../../lib/store/statement.ts";

/** A reversed payment (chargeback), as the game server reports it. */
export interface ChargebackEvent {
	/**
	 * Id of the chargeback: 64 hexadecimal digits. If the game server reports the chargeback again, the id is the same.
	 */
	id: string;
	uuid: string;
	username: string;
	/** Id of the Discord user who is linked to the player's game account; null if none is linked. */
	chat_id: string | null;
	tier: string;
	/** When the payment was reversed: ISO 8601, UTC. */
	happened_at: string;
}

export type Decision = "ban" | "dismiss";

/**
 * Progress of restricting a person's Discord roles after a chargeback. "absent": the person is not in the guild;
 * "none": no Discord account is linked.
 */
export type Restriction = "none" | "pending" | "absent" | "restricted";
/**
 * Progress of a ban for a chargeback. "none": no Discord account is linked; "impossible": another attempt would not
 * help.
 */
export type Ban = "none" | "pending" | "done" | "impossible";
/**
 * Progress of giving a person's Discord roles back after a dismissed chargeback. "absent": the person is not in the
 * guild; "void": another chargeback of the person ended in a ban.
 */
export type Restoration = "none" | "pending" | "absent" | "restored" | "void";

/**
 * A stored chargeback (reversed payment), and what the bot has done about it. Columns named `…_error` hold the error of
 * the last attempt, as text for people.
 */
export interface Chargeback extends ChargebackEvent {
	/** When the bot received the chargeback, in epoch milliseconds. */
	received_at: number;
	restriction: Restriction;
	restriction_error: string | null;
	/** Ids of the person's Discord roles that the bot has removed, or is about to remove, because of the chargeback. */
	saved_roles: readonly string[];
	/** Id of the Discord role that replaces the person's removed roles; null if the roles were not removed yet. */
	restricted_role: string | null;
	/**
	 * Id of the Discord channel with the alert message to staff; null until the message is known to exist. `message_id`
	 * is the id of the message.
	 */
	channel_id: string | null;
	message_id: string | null;
	/** How many alert messages about this chargeback have been deleted on Discord while they were still needed. */
	alerts_lost: number;
	/** Digest of the alert message's current content on Discord; null if the content is unknown. */
	shown: string | null;
	decision: Decision | null;
	decided_by: string | null;
	/** When staff decided to ban or dismiss, in epoch milliseconds; null if undecided. */
	decided_at: number | null;
	/** Progress of the person's ban on Discord. The ban in the game has its own column, `game_ban`. */
	discord_ban: Ban;
	discord_ban_error: string | null;
	game_ban: Ban;
	game_ban_error: string | null;
	/** Progress of giving the removed Discord roles back after staff dismissed the chargeback. */
	restoration: Restoration;
	restoration_error: string | null;
	/** Ids of the removed Discord roles that the bot could not give back, such as deleted roles. */
	lost_roles: readonly string[];
	/** 1 if nothing is left to do for this chargeback; otherwise 0. */
	closed: 0 | 1;
}

export const chargebacksTable = `
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
	CREATE INDEX chargebacks_of ON chargebacks (closed, chat_id)`;

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

/** Stores a chargeback unless it is already stored. Returns whether it was new. */
export async function insertChargeback(sql: Sql, event: ChargebackEvent, receivedAt: Date): Promise<boolean> {
	const onDiscord = event.chat_id === null ? "none" : "pending";
	const row: Row = {
		...event,
		received_at: receivedAt.getTime(),
		restriction: onDiscord,
		restriction_error: null,
		saved_roles: "[]",
		restricted_role: null,
		channel_id: null,
		message_id: null,
		alerts_lost: 0,
		shown: null,
		decision: null,
		decided_by: null,
		decided_at: null,
		discord_ban: onDiscord,
		discord_ban_error: null,
		game_ban: "pending",
		game_ban_error: null,
		restoration: onDiscord,
		restoration_error: null,
		lost_roles: "[]",
		closed: 0,
	};
	const inserted = await sql`
		INSERT INTO chargebacks ${many([{ ...row }])} ON CONFLICT (id) DO NOTHING RETURNING id`;
	return inserted.length > 0;
}

export async function selectChargeback(sql: Sql, id: string): Promise<Chargeback | undefined> {
	const [row] = await sql<Row>`SELECT * FROM chargebacks WHERE id = ${id}`;
	return row && read(row);
}

/** Returns the open chargebacks (those with something left to do), oldest first. */
export async function selectOpenChargebacks(sql: Sql): Promise<Chargeback[]> {
	const rows = await sql<Row>`
		SELECT * FROM chargebacks WHERE closed = ${0} ORDER BY received_at, id`;
	return rows.map(read);
}

/** Returns the open chargebacks (those with something left to do) of one Discord user, oldest first. */
export async function selectOpenChargebacksOf(sql: Sql, chatId: string): Promise<Chargeback[]> {
	const rows = await sql<Row>`
		SELECT * FROM chargebacks WHERE closed = ${0} AND chat_id = ${chatId} ORDER BY received_at, id`;
	return rows.map(read);
}

/**
 * Whether staff decided to ban the same Discord user because of another chargeback, and that chargeback is still open
 * or was decided after this chargeback arrived.
 */
export async function hasBanBeside(sql: Sql, { id, chat_id, received_at }: Chargeback): Promise<boolean> {
	const found = await sql`
		SELECT id FROM chargebacks
		WHERE chat_id = ${chat_id} AND id <> ${id} AND decision = ${"ban"}
			AND (closed = ${0} OR decided_at >= ${received_at})
		LIMIT 1`;
	return found.length > 0;
}

/** Whether staff decided, at or after `since` (epoch milliseconds), to ban a Discord user for a chargeback. */
export async function hasBanSince(sql: Sql, chatId: string, since: number): Promise<boolean> {
	const found = await sql`
		SELECT id FROM chargebacks
		WHERE chat_id = ${chatId} AND decision = ${"ban"} AND decided_at >= ${since}
		LIMIT 1`;
	return found.length > 0;
}

/** Returns the chargebacks of a Discord user for which staff decided to ban, newest decision first, at most 20. */
export function selectBansFor(sql: Sql, chatId: string): Promise<Pick<Chargeback, "id" | "decided_by">[]> {
	return sql<Pick<Chargeback, "id" | "decided_by">>`
		SELECT id, decided_by FROM chargebacks
		WHERE chat_id = ${chatId} AND decision = ${"ban"}
		ORDER BY decided_at DESC LIMIT 20`;
}

/**
 * Whether a Discord user lost roles, or is about to lose roles, because of an open chargeback (reversed payment) and
 * has not got them back.
 */
export async function hasRestriction(sql: Sql, chatId: string): Promise<boolean> {
	const found = await sql`
		SELECT id FROM chargebacks
		WHERE chat_id = ${chatId} AND closed = ${0}
			AND restoration IN ${many(["pending", "absent"])}
		LIMIT 1`;
	return found.length > 0;
}

/**
 * Returns the ids of all Discord users who lost roles, or are about to lose roles, because of an open chargeback
 * (reversed payment) and have not got them back.
 */
export async function selectRestricted(sql: Sql): Promise<Set<string>> {
	const rows = await sql<{ chat_id: string }>`
		SELECT DISTINCT chat_id FROM chargebacks
		WHERE closed = ${0} AND chat_id IS NOT NULL
			AND restoration IN ${many(["pending", "absent"])}`;
	return new Set(rows.map(({ chat_id }) => chat_id));
}

/**
 * Stores the current roles of a Discord user, and the role that is about to replace them because of a chargeback. A
 * replacement role that is already stored is not changed.
 */
export async function saveRoles(sql: Sql, id: string, roles: readonly string[], restrictedRole: string): Promise<void> {
	await sql`
		UPDATE chargebacks SET saved_roles = ${JSON.stringify(roles)},
			restricted_role = COALESCE(restricted_role, ${restrictedRole})
		WHERE id = ${id}`;
}

/** Stores staff's decision on a chargeback unless there is already one. Returns whether the decision was stored. */
export async function decide(sql: Sql, id: string, decision: Decision, by: string): Promise<boolean> {
	const decided = await sql`
		UPDATE chargebacks SET decision = ${decision}, decided_by = ${by}, decided_at = ${Date.now()}
		WHERE id = ${id} AND decision IS NULL RETURNING id`;
	return decided.length > 0;
}

/** Changes columns of the chargebacks with the given ids. */
export async function updateChargebacks(
	sql: Sql,
	ids: readonly string[],
	{ lost_roles, ...changes }: Partial<Omit<Chargeback, keyof ChargebackEvent | "saved_roles">>,
): Promise<void> {
	const roles = lost_roles && { lost_roles: JSON.stringify(lost_roles) };
	await sql`
		UPDATE chargebacks SET ${many([{ ...changes, ...roles }])} WHERE id IN ${many(ids)}`;
}

/**
 * An action that the bot takes because of a chargeback and that may fail. The database stores the error of an action in
 * a column `…_error`.
 */
export type FailableStep = "restriction" | "discord_ban" | "game_ban" | "restoration";

/**
 * Stores the error of an action that the bot took because of a chargeback, such as a ban. Does nothing if the action
 * has succeeded in the meantime.
 */
export async function setError(sql: Sql, id: string, step: FailableStep, error: string): Promise<void> {
	await sql`
		UPDATE chargebacks SET ${many([{ [`${step}_error`]: error }])}
		WHERE id = ${id} AND CASE ${step}
			WHEN 'restriction' THEN restriction <> 'restricted'
			WHEN 'discord_ban' THEN discord_ban = 'pending'
			WHEN 'game_ban' THEN game_ban = 'pending'
			ELSE restoration IN ('pending', 'absent') END`;
}
