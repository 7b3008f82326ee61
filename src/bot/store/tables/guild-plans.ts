// Table "guild_plans": plans of changes to guilds, as people and assistants saw them.

import { many, type Sql } from "../../../lib/store/statement.ts";

export interface GuildPlanRow {
	/** Hash of the plan's content. It identifies the plan. */
	hash: string;
	guild_id: string;
	/** When the plan was made, in epoch milliseconds; the last time, if the same plan was made several times. */
	made_at: number;
	/** The plan, which lists changes to make to the guild, as JSON. */
	content: string;
}

const keptMs = 86_400_000;
/** Maximum number of plans of changes that are stored for each guild. Older plans are deleted. */
export const maxGuildPlans = 20;

export const guildPlansTable = `
	CREATE TABLE guild_plans (
		hash TEXT NOT NULL PRIMARY KEY,
		guild_id TEXT NOT NULL,
		made_at BIGINT NOT NULL,
		content TEXT NOT NULL
	);
	CREATE INDEX guild_plans_of_guild ON guild_plans (guild_id, made_at)`;

/**
 * Stores a plan of changes to a guild. Deletes plans older than a day, and all but the latest 20 plans of the guild.
 */
export async function saveGuildPlan(sql: Sql, plan: GuildPlanRow): Promise<void> {
	await sql`
		INSERT INTO guild_plans ${many([{ ...plan }])}
		ON CONFLICT (hash) DO UPDATE SET made_at = excluded.made_at`;
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

export async function selectGuildPlan(sql: Sql, hash: string): Promise<GuildPlanRow | undefined> {
	const [row] = await sql<GuildPlanRow>`
		SELECT * FROM guild_plans WHERE hash = ${hash}`;
	return row;
}
