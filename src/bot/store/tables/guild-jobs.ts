// Tables "guild_jobs" and "guild_job_steps": plans that are carried out, and what became of each step. A job is a row
// before anything is sent, and so is each step.

import { inBatches, many, type Sql } from "../../../lib/store/statement.ts";

/** State of a job, which makes changes to a guild. "failed": the job ended without making all changes. */
export type GuildJobState = "running" | "done" | "failed" | "cancelled";

export interface GuildJobRow {
	id: string;
	guild_id: string;
	plan_hash: string;
	/** The plan, which lists the changes that the job makes to the guild, as JSON. */
	content: string;
	/** Reason for the job's changes, shown in Discord's audit log. */
	reason: string;
	state: GuildJobState;
	/** 1 if someone has requested to cancel the job; otherwise 0. */
	cancel_asked: 0 | 1;
	/** Text for people about how the job ended, such as why it failed; null if there is nothing to tell. */
	note: string | null;
	/** When the job started, in epoch milliseconds. */
	started_at: number;
	/** When the job ended, in epoch milliseconds; null while the job runs. */
	ended_at: number | null;
}

/** The columns of an unfinished job that the bot needs to decide whether it can continue the job now. */
export type RunningGuildJob = Pick<GuildJobRow, "id" | "guild_id" | "plan_hash" | "cancel_asked">;

export interface GuildJobStepRow {
	job_id: string;
	step_id: string;
	/**
	 * Progress of a step, which is one change that the job makes to the guild. "asked": the request to Discord may have
	 * been sent, and its outcome is unknown. "open": the request certainly had no effect and can be sent again.
	 */
	state: "asked" | "open" | "done" | "failed";
	action: string;
	kind: string;
	name: string;
	/**
	 * Short text such as "3.1" in the reason that Discord's audit log shows for the step's request. If Discord's response
	 * is lost, the bot finds what the step created by this text.
	 */
	mark: string;
	/**
	 * The highest Discord id in the guild when the step's request was sent. If Discord's response is lost, the bot looks
	 * for what the step created among later ids.
	 */
	after_id: string;
	/**
	 * Stands, in later steps of the job, for the id of the object that this step creates, such as a role; null if this
	 * step creates nothing.
	 */
	placeholder: string | null;
	/** Id of the object, such as a role, that the step created or changed; null if the id is unknown. */
	target_id: string | null;
	/** How often the step was done. A job repeats a step whose change has been undone by Discord or by a person. */
	done_count: number;
	/** Why the step failed; null if it has not failed. */
	error: string | null;
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

/**
 * Stores a new job, which makes changes to a guild. If the guild already has a running job, stores nothing and returns
 * false.
 */
export async function insertGuildJob(sql: Sql, job: GuildJobRow): Promise<boolean> {
	const rows = await sql`
		INSERT INTO guild_jobs ${many([{ ...job }])} ON CONFLICT DO NOTHING RETURNING id`;
	return rows.length > 0;
}

export function selectRunningGuildJobs(sql: Sql): Promise<RunningGuildJob[]> {
	return sql<RunningGuildJob>`
		SELECT id, guild_id, plan_hash, cancel_asked FROM guild_jobs
		WHERE ended_at IS NULL ORDER BY started_at, id`;
}

export async function selectGuildJob(sql: Sql, id: string): Promise<GuildJobRow | undefined> {
	const [row] = await sql<GuildJobRow>`
		SELECT * FROM guild_jobs WHERE id = ${id}`;
	return row;
}

/** Returns the ids of the latest jobs that make or made changes to a guild, newest first, at most `limit`. */
export async function selectGuildJobIds(sql: Sql, guildId: string, limit: number): Promise<string[]> {
	const rows = await sql<{ id: string }>`
		SELECT id FROM guild_jobs WHERE guild_id = ${guildId}
		ORDER BY started_at DESC, id LIMIT ${limit}`;
	return rows.map(({ id }) => id);
}

/** Stores the request to cancel a job. Returns false if the job is not running. */
export async function askToCancel(sql: Sql, id: string): Promise<boolean> {
	const rows = await sql`
		UPDATE guild_jobs SET cancel_asked = ${1}
		WHERE id = ${id} AND ended_at IS NULL RETURNING id`;
	return rows.length > 0;
}

export async function endGuildJob(
	sql: Sql,
	{ id, state, note, ended_at }: Pick<GuildJobRow, "id" | "state" | "note" | "ended_at">,
): Promise<void> {
	await sql`
		UPDATE guild_jobs SET state = ${state}, note = ${note}, ended_at = ${ended_at}
		WHERE id = ${id} AND ended_at IS NULL`;
}

/** Returns the stored steps (changes to the guild) of a job: those that the job has started, and those that failed. */
export function selectGuildJobSteps(sql: Sql, jobId: string): Promise<GuildJobStepRow[]> {
	return sql<GuildJobStepRow>`
		SELECT * FROM guild_job_steps WHERE job_id = ${jobId}`;
}

/** Stores the progress of job steps, which are changes to guilds. Overwrites the stored progress of the same steps. */
export async function saveGuildJobSteps(sql: Sql, steps: readonly GuildJobStepRow[]): Promise<void> {
	for (const batch of inBatches(steps, 100))
		await sql`
			INSERT INTO guild_job_steps ${many(batch.map((step) => ({ ...step })))}
			ON CONFLICT (job_id, step_id) DO UPDATE SET
				state = excluded.state, mark = excluded.mark, after_id = excluded.after_id,
				target_id = excluded.target_id, done_count = excluded.done_count, error = excluded.error`;
}

/**
 * Deletes jobs that ended before `instant` (epoch milliseconds), and their steps. Returns how many jobs were deleted.
 */
export async function deleteGuildJobsBefore(sql: Sql, instant: number): Promise<number> {
	await sql`
		DELETE FROM guild_job_steps WHERE job_id IN (
			SELECT id FROM guild_jobs WHERE ended_at < ${instant}
		)`;
	const deleted = await sql`
		DELETE FROM guild_jobs WHERE ended_at < ${instant} RETURNING id`;
	return deleted.length;
}
