// Tables "guild_jobs" and "guild_job_steps": plans that are carried out, and what became of each step. A job is a row
// before anything is sent, and so is each step. Times are in epoch milliseconds.

import type { RowOf } from "../../../lib/store/row.ts";
import { rowsOf, type Sql } from "../../../lib/store/statement.ts";

/** "failed": ended without making all changes. */
export type GuildJobState = "running" | "done" | "failed" | "cancelled";

export interface GuildJobRow extends RowOf<typeof guildJobsTables, "guild_jobs"> {
	state: GuildJobState;
	cancel_asked: 0 | 1;
}

export type RunningGuildJob = Pick<GuildJobRow, "id" | "guild_id" | "plan_hash" | "cancel_asked">;

export interface GuildJobStepRow extends RowOf<typeof guildJobsTables, "guild_job_steps"> {
	/** "asked": may have been sent, outcome unknown. "open": certainly had no effect, can be sent again. */
	state: "asked" | "open" | "done" | "failed";
	/** Such as "3.1", in the audit log reason: finds what the step created if Discord's response is lost. */
	mark: string;
	/** Highest id in the guild before the request: what the step created has a later one. */
	after_id: string;
	/** Stands, in later steps, for the id of what this step creates; null if it creates nothing. */
	placeholder: string | null;
	/** A step is repeated if Discord or a person has undone it. */
	done_count: number;
}

export const guildJobsTables = `
	CREATE TABLE guild_jobs (
		id TEXT NOT NULL PRIMARY KEY,
		guild_id TEXT NOT NULL,
		plan_hash TEXT NOT NULL,
		content TEXT NOT NULL,
		reason TEXT NOT NULL,
		state TEXT NOT NULL,
		cancel_asked INTEGER NOT NULL,
		note TEXT,
		started_at BIGINT NOT NULL,
		ended_at BIGINT
	);
	CREATE UNIQUE INDEX guild_jobs_running ON guild_jobs (guild_id) WHERE ended_at IS NULL;
	CREATE INDEX guild_jobs_by_end ON guild_jobs (ended_at);
	CREATE TABLE guild_job_steps (
		job_id TEXT NOT NULL,
		step_id TEXT NOT NULL,
		state TEXT NOT NULL,
		action TEXT NOT NULL,
		kind TEXT NOT NULL,
		name TEXT NOT NULL,
		mark TEXT NOT NULL,
		after_id TEXT NOT NULL,
		placeholder TEXT,
		target_id TEXT,
		done_count INTEGER NOT NULL,
		error TEXT,
		PRIMARY KEY (job_id, step_id)
	)`;

export const guildJobRows = rowsOf<GuildJobRow, "id">("guild_jobs", ["id"]);

/** Only steps that the job has started, or that failed. */
export const guildJobStepRows = rowsOf<GuildJobStepRow, "job_id" | "step_id">("guild_job_steps", ["job_id", "step_id"]);

export function selectRunningGuildJobs(sql: Sql): Promise<RunningGuildJob[]> {
	return sql<RunningGuildJob>`
		SELECT id, guild_id, plan_hash, cancel_asked FROM guild_jobs WHERE ended_at IS NULL ORDER BY started_at, id`;
}

export async function selectGuildJobIds(sql: Sql, guildId: string, limit: number): Promise<string[]> {
	const rows = await sql<{ id: string }>`
		SELECT id FROM guild_jobs WHERE guild_id = ${guildId} ORDER BY started_at DESC, id LIMIT ${limit}`;
	return rows.map(({ id }) => id);
}
