// The table of what members have done: how many messages they have written since they joined, and whether that has
// brought them a role.

import type { Migration } from "./migrations.ts";
import { many, type Sql } from "./statement.ts";

/** What is known of a member. */
export interface Activity {
	user_id: string;
	/** Since when they are a member, as Discord says; what is counted is counted since then. Epoch milliseconds. */
	joined_at: number;
	messages: number;
	/** 1 once they were given the role, by whomever, or are about to be. */
	promoted: 0 | 1;
	/** Which role that is; empty before. */
	role_id: string;
	/** 1 while a promotion is under way: whether they have the role by now says Discord. */
	claimed: 0 | 1;
	/** 1 where they had lost the role when they left: they are not given it again. */
	withheld: 0 | 1;
}

export const memberActivityTable: Migration = {
	number: 6,
	name: "member activity",
	text: `
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
		CREATE INDEX member_activity_claimed ON member_activity (claimed)`,
};

/** A member of a guild, from when they joined it. */
export interface Membership {
	user_id: string;
	joined_at: number;
}

/** Adds messages to those of members: all in one statement. Whoever has joined anew begins anew. */
export async function addMessages(
	sql: Sql,
	guildId: string,
	counts: readonly (Membership & { messages: number })[],
): Promise<void> {
	const rows = counts.map((count) => ({
		guild_id: guildId,
		...count,
		...{ promoted: 0, role_id: "", claimed: 0, withheld: 0 },
	}));
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

/** What is known of these people. */
export function selectActivity(
	sql: Sql,
	guildId: string,
	ids: readonly string[],
): Promise<Activity[]> {
	return sql<Activity>`
		SELECT user_id, joined_at, messages, promoted, role_id, claimed, withheld
		FROM member_activity WHERE guild_id = ${guildId} AND user_id IN ${many(ids)}`;
}

/** Promotions that were begun, and of which it is not known whether they were done. */
export function selectClaimed(
	sql: Sql,
	guildId: string,
	limit: number,
): Promise<Activity[]> {
	return sql<Activity>`
		SELECT user_id, joined_at, messages, promoted, role_id, claimed, withheld
		FROM member_activity WHERE claimed = 1 AND guild_id = ${guildId} ORDER BY user_id LIMIT ${limit}`;
}

/** Whether this is the one who promotes them: it is only once for each role and each time that they join. */
export async function claimPromotion(
	sql: Sql,
	guildId: string,
	{ user_id, joined_at }: Membership,
	roleId: string,
): Promise<boolean> {
	const claimed = await sql`
		INSERT INTO member_activity (guild_id, user_id, joined_at, messages, promoted, role_id, claimed, withheld)
		VALUES (${guildId}, ${user_id}, ${joined_at}, 0, 1, ${roleId}, 1, 0)
		ON CONFLICT (guild_id, user_id) DO UPDATE SET
			messages = CASE WHEN member_activity.joined_at = excluded.joined_at THEN member_activity.messages ELSE 0 END,
			promoted = 1, role_id = excluded.role_id, claimed = 1, withheld = 0, joined_at = excluded.joined_at
		WHERE member_activity.promoted = 0 OR member_activity.role_id <> excluded.role_id
			OR (member_activity.withheld = 0 AND member_activity.joined_at <> excluded.joined_at)
		RETURNING user_id`;
	return claimed.length > 0;
}

/** The promotion was done. */
export async function settlePromotion(
	sql: Sql,
	guildId: string,
	id: string,
): Promise<void> {
	await sql`
		UPDATE member_activity SET claimed = 0 WHERE guild_id = ${guildId} AND user_id = ${id}`;
}

/** The promotion was not done: it may be claimed again. */
export async function releasePromotion(
	sql: Sql,
	guildId: string,
	id: string,
): Promise<void> {
	await sql`
		UPDATE member_activity SET promoted = 0, claimed = 0
		WHERE guild_id = ${guildId} AND user_id = ${id} AND claimed = 1`;
}

/** These people have the role, whoever gave it to them. */
export async function notePromoted(
	sql: Sql,
	guildId: string,
	people: readonly Membership[],
	roleId: string,
): Promise<void> {
	const rows = people.map((person) => ({
		guild_id: guildId,
		...person,
		...{ messages: 0, promoted: 1, role_id: roleId, claimed: 0, withheld: 0 },
	}));
	await sql`
		INSERT INTO member_activity ${many(rows)}
		ON CONFLICT (guild_id, user_id) DO UPDATE SET
			messages = CASE WHEN member_activity.joined_at = excluded.joined_at THEN member_activity.messages ELSE 0 END,
			promoted = 1, role_id = excluded.role_id, withheld = 0, joined_at = excluded.joined_at`;
}

/** These people have left, `without` the role those of them who did not have it: of them is kept who had it before. */
export async function noteLeft(
	sql: Sql,
	guildId: string,
	{ ids, without }: { ids: readonly string[]; without: readonly string[] },
): Promise<void> {
	if (without.length > 0)
		await sql`
			UPDATE member_activity SET withheld = 1
			WHERE guild_id = ${guildId} AND promoted = 1 AND claimed = 0 AND user_id IN ${many(without)}`;
	await sql`
		DELETE FROM member_activity WHERE guild_id = ${guildId} AND withheld = 0 AND user_id IN ${many(ids)}`;
}
