// Table "guild_plans": plans of changes to guilds, as people and assistants saw them.

import type { RowOf } from "../../../lib/store/row.ts";
import { many, rowsOf, type Sql } from "../../../lib/store/statement.ts";

interface GuildPlanRow extends RowOf<typeof guildPlansTable, "guild_plans"> {
	/** Epoch milliseconds; the last time, if the same plan was made again. */
	made_at: number;
}

const keptMs = 86_400_000;
export const maxGuildPlans = 20;

export const guildPlansTable = `
	CREATE TABLE guild_plans (
		hash TEXT NOT NULL PRIMARY KEY,
		guild_id TEXT NOT NULL,
		made_at BIGINT NOT NULL,
		content TEXT NOT NULL
	);
	CREATE INDEX guild_plans_of_guild ON guild_plans (guild_id, made_at)`;

export const guildPlanRows = rowsOf<GuildPlanRow, "hash">("guild_plans", ["hash"]);

/** The latest first. */
export function selectGuildPlans(sql: Sql, guildId: string, limit: number): Promise<Omit<GuildPlanRow, "content">[]> {
	return sql`
		SELECT hash, guild_id, made_at FROM guild_plans WHERE guild_id = ${guildId} ORDER BY made_at DESC, hash LIMIT ${limit}`;
}

/** Deletes plans older than a day, and all but the latest 20 of the guild. */
export async function saveGuildPlan(sql: Sql, plan: GuildPlanRow): Promise<void> {
	await sql`INSERT INTO guild_plans ${many([plan])} ON CONFLICT (hash) DO UPDATE SET made_at = excluded.made_at`;
	// The plan just made is kept, whatever the clock did.
	await sql`
		DELETE FROM guild_plans WHERE hash <> ${plan.hash} AND (
			made_at < ${plan.made_at - keptMs}
			OR (guild_id = ${plan.guild_id} AND hash NOT IN (
				SELECT hash FROM guild_plans WHERE guild_id = ${plan.guild_id}
				ORDER BY made_at DESC, hash LIMIT ${maxGuildPlans}
			))
		)`;
}
