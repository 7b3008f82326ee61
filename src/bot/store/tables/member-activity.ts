// Table "member_activity": messages that a member has written since joining, and whether they earned a role.
// Times are in epoch milliseconds.

import type { RowOf } from "../../../lib/store/row.ts";
import { hasRow, many, rowsOf, type Sql } from "../../../lib/store/statement.ts";

export interface Activity extends Omit<RowOf<typeof memberActivityTable, "member_activity">, "guild_id"> {
	/** As reported by Discord. Only later messages are counted. */
	joined_at: number;
	/** 1 if the member has got the role, from anyone, or is about to get it. */
	promoted: 0 | 1;
	/** 1 while the bot gives the role: whether it has arrived must be read from Discord. */
	claimed: 0 | 1;
	/** 1 if the role was lost before the member left: a rejoin does not give it again. */
	withheld: 0 | 1;
}

export const memberActivityTable = `
	CREATE TABLE member_activity (
		guild_id TEXT NOT NULL,
		user_id TEXT NOT NULL,
		joined_at BIGINT NOT NULL,
		messages BIGINT NOT NULL,
		promoted INTEGER NOT NULL,
		role_id TEXT NOT NULL,
		claimed INTEGER NOT NULL,
		withheld INTEGER NOT NULL,
		PRIMARY KEY (guild_id, user_id)
	);
	CREATE INDEX member_activity_claimed ON member_activity (claimed)`;

export const activityRows = rowsOf<Activity & { guild_id: string }, "guild_id" | "user_id">("member_activity", [
	"guild_id",
	"user_id",
]);

export type Membership = Pick<Activity, "user_id" | "joined_at">;

function newRow(guild_id: string, values: Membership & Partial<Activity>) {
	const defaults = { messages: 0, promoted: 0, role_id: "", claimed: 0 };
	return { guild_id, ...defaults, withheld: 0, ...values };
}

/** One statement. After a rejoin, the count starts at zero. */
export async function addMessages(
	sql: Sql,
	guildId: string,
	counts: readonly (Membership & { messages: number })[],
): Promise<void> {
	const rows = counts.map((count) => newRow(guildId, count));
	await sql`
		INSERT INTO member_activity ${many(rows)}
		ON CONFLICT (guild_id, user_id) DO UPDATE SET
			messages = excluded.messages +
				CASE WHEN member_activity.joined_at = excluded.joined_at THEN member_activity.messages ELSE 0 END,
			promoted = CASE
				WHEN member_activity.joined_at = excluded.joined_at OR member_activity.withheld = 1
				THEN member_activity.promoted ELSE 0 END,
			claimed = CASE WHEN member_activity.joined_at = excluded.joined_at THEN member_activity.claimed ELSE 0 END,
			joined_at = excluded.joined_at`;
}

/** False if the member has had the role and must not get it again. */
export function claimPromotion(
	sql: Sql,
	guildId: string,
	{ user_id, joined_at }: Membership,
	roleId: string,
): Promise<boolean> {
	return hasRow(sql`
		INSERT INTO member_activity ${many([newRow(guildId, { user_id, joined_at, promoted: 1, role_id: roleId, claimed: 1 })])}
		ON CONFLICT (guild_id, user_id) DO UPDATE SET
			messages = CASE WHEN member_activity.joined_at = excluded.joined_at THEN member_activity.messages ELSE 0 END,
			promoted = 1, role_id = excluded.role_id, claimed = 1, withheld = 0, joined_at = excluded.joined_at
		WHERE member_activity.promoted = 0 OR member_activity.role_id <> excluded.role_id
			OR (member_activity.withheld = 0 AND member_activity.joined_at <> excluded.joined_at)
		RETURNING user_id`);
}

/** The claim ended without the role: a later sweep may claim it again. */
export function releasePromotion(sql: Sql, guild_id: string, user_id: string): Promise<unknown> {
	return activityRows.change(sql, { guild_id, user_id }, { promoted: 0, claimed: 0 }, { claimed: 1 });
}

export async function savePromoted(
	sql: Sql,
	guildId: string,
	people: readonly Membership[],
	roleId: string,
): Promise<void> {
	const rows = people.map((person) => newRow(guildId, { ...person, promoted: 1, role_id: roleId }));
	await sql`
		INSERT INTO member_activity ${many(rows)}
		ON CONFLICT (guild_id, user_id) DO UPDATE SET
			messages = CASE WHEN member_activity.joined_at = excluded.joined_at THEN member_activity.messages ELSE 0 END,
			promoted = 1, role_id = excluded.role_id, withheld = 0, joined_at = excluded.joined_at`;
}

/** Keeps members in `without`, who had lost the role before they left, so that they do not get it again. */
export async function saveLeft(
	sql: Sql,
	guildId: string,
	{ ids, without }: { ids: readonly string[]; without: readonly string[] },
): Promise<void> {
	if (without.length > 0)
		await sql`
			UPDATE member_activity SET withheld = 1
			WHERE guild_id = ${guildId} AND promoted = 1 AND claimed = 0 AND user_id IN ${many(without)}`;
	await sql`DELETE FROM member_activity WHERE guild_id = ${guildId} AND withheld = 0 AND user_id IN ${many(ids)}`;
}
