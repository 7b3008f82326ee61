// Tables "guild_jobs" and "guild_job_steps": plans that are carried out, and what became of each step. A job is a row
// before anything is sent, and so is each step.

import type { Migration } from "./database/migrations.ts";
import { inBatches, many, type Sql } from "./database/statement.ts";

/** "failed": ended, but not everything was done. */
export type GuildJobState = "running" | "done" | "failed" | "cancelled";

export interface GuildJobRow {
	id: string;
	guild_id: string;
	plan_hash: string;
	/** The plan as JSON. */
	content: string;
	/** Reason for Discord's audit log. */
	reason: string;
	state: GuildJobState;
	/** 1 if someone asked to cancel the job. */
	cancel_asked: 0 | 1;
	/** What people should know about the end of the job; null if there is nothing. */
	note: string | null;
	/** In epoch milliseconds. */
	started_at: number;
	/** In epoch milliseconds; null while the job runs. */
	ended_at: number | null;
}

/** What a search for work needs to know about a job. */
export type RunningGuildJob = Pick<
	GuildJobRow,
	"id" | "guild_id" | "plan_hash" | "cancel_asked"
>;

export interface GuildJobStepRow {
	job_id: string;
	step_id: string;
	/** "asked": the request may have been sent. "open": it was certainly not carried out. */
	state: "asked" | "open" | "done" | "failed";
	action: string;
	kind: string;
	name: string;
	/** Part of the audit log reason by which the thing is found that the step created. */
	mark: string;
	/** The newest Discord id that was known before the request. */
	after_id: string;
	/** Stands for the id of the thing that the step creates; null if it creates nothing. */
	placeholder: string | null;
	/** Id of the thing that the step created or changed; null if it is not known. */
	target_id: string | null;
	/** How often Discord has confirmed the step. */
	done_count: number;
	/** Why the step was not done; null if it was. */
	error: string | null;
}

export const guildJobsTables: Migration = {
	number: 13,
	name: "jobs of guilds",
	text: `
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
		)`,
};

/** Stores a new job. Returns false, and stores nothing, if the guild has a running job. */
export async function insertGuildJob(
	sql: Sql,
	job: GuildJobRow,
): Promise<boolean> {
	const rows = await sql`
		INSERT INTO guild_jobs ${many([{ ...job }])} ON CONFLICT DO NOTHING RETURNING id`;
	return rows.length > 0;
}

export function selectRunningGuildJobs(sql: Sql): Promise<RunningGuildJob[]> {
	return sql<RunningGuildJob>`
		SELECT id, guild_id, plan_hash, cancel_asked FROM guild_jobs
		WHERE ended_at IS NULL ORDER BY started_at, id`;
}

export async function selectGuildJob(
	sql: Sql,
	id: string,
): Promise<GuildJobRow | undefined> {
	const [row] = await sql<GuildJobRow>`
		SELECT * FROM guild_jobs WHERE id = ${id}`;
	return row;
}

/** Returns the ids of the guild's jobs, the latest first. */
export async function selectGuildJobIds(
	sql: Sql,
	guildId: string,
	limit: number,
): Promise<string[]> {
	const rows = await sql<{ id: string }>`
		SELECT id FROM guild_jobs WHERE guild_id = ${guildId}
		ORDER BY started_at DESC, id LIMIT ${limit}`;
	return rows.map(({ id }) => id);
}

/** Asks the worker to end a job. Returns false if the job does not run. */
export async function askToCancel(sql: Sql, id: string): Promise<boolean> {
	const rows = await sql`
		UPDATE guild_jobs SET cancel_asked = ${1}
		WHERE id = ${id} AND ended_at IS NULL RETURNING id`;
	return rows.length > 0;
}

export async function endGuildJob(
	sql: Sql,
	{
		id,
		state,
		note,
		ended_at,
	}: Pick<GuildJobRow, "id" | "state" | "note" | "ended_at">,
): Promise<void> {
	await sql`
		UPDATE guild_jobs SET state = ${state}, note = ${note}, ended_at = ${ended_at}
		WHERE id = ${id} AND ended_at IS NULL`;
}

/** Returns the steps of a job that were begun or failed. */
export function selectGuildJobSteps(
	sql: Sql,
	jobId: string,
): Promise<GuildJobStepRow[]> {
	return sql<GuildJobStepRow>`
		SELECT * FROM guild_job_steps WHERE job_id = ${jobId}`;
}

/** Stores steps of jobs. Replaces what is stored about them. */
export async function saveGuildJobSteps(
	sql: Sql,
	steps: readonly GuildJobStepRow[],
): Promise<void> {
	for (const batch of inBatches(steps, 100))
		await sql`
			INSERT INTO guild_job_steps ${many(batch.map((step) => ({ ...step })))}
			ON CONFLICT (job_id, step_id) DO UPDATE SET
				state = excluded.state, mark = excluded.mark, after_id = excluded.after_id,
				target_id = excluded.target_id, done_count = excluded.done_count, error = excluded.error`;
}

/** Deletes jobs that ended before `instant` (epoch milliseconds). Returns how many. */
export async function deleteGuildJobsBefore(
	sql: Sql,
	instant: number,
): Promise<number> {
	await sql`
		DELETE FROM guild_job_steps WHERE job_id IN (
			SELECT id FROM guild_jobs WHERE ended_at < ${instant}
		)`;
	const deleted = await sql`
		DELETE FROM guild_jobs WHERE ended_at < ${instant} RETURNING id`;
	return deleted.length;
}
