// Tables of guild documents. "guild_plans": plans, as people and assistants saw them. "guild_jobs" and "guild_job_steps": plans
// that are carried out, and what became of each step; both are rows before anything is sent. "guild_messages": what documents
// have posted, by channel (or forum) and key, and what they said of it: JSON, with ids. "undone_entries": entries of Discord's
// audit log, and calls of the bot's tools, that a job of undo_actions has undone. Times are in epoch milliseconds.

import type { RowOf } from "../../../lib/store/row.ts";
import { inBatches, many, rowsOf, type Sql } from "../../../lib/store/statement.ts";

export const guildJobTables = `
	CREATE TABLE guild_plans (
		hash TEXT NOT NULL PRIMARY KEY,
		guild_id TEXT NOT NULL,
		made_at BIGINT NOT NULL,
		content TEXT NOT NULL
	);
	CREATE INDEX guild_plans_of_guild ON guild_plans (guild_id, made_at);
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
	);
	CREATE TABLE guild_messages (
		guild_id TEXT NOT NULL,
		channel_id TEXT NOT NULL,
		key TEXT NOT NULL,
		message_id TEXT NOT NULL,
		content TEXT NOT NULL,
		PRIMARY KEY (guild_id, channel_id, key)
	);
	CREATE TABLE undone_entries (
		entry_id TEXT NOT NULL PRIMARY KEY,
		at BIGINT NOT NULL
	)`;

interface GuildPlanRow extends RowOf<typeof guildJobTables, "guild_plans"> {
	/** Epoch milliseconds; the last time, if the same plan was made again. */
	made_at: number;
}

const keptMs = 86_400_000;
export const maxGuildPlans = 20;

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

/** "failed": ended without making all changes. */
export type GuildJobState = "running" | "done" | "failed" | "cancelled";

export interface GuildJobRow extends RowOf<typeof guildJobTables, "guild_jobs"> {
	state: GuildJobState;
	cancel_asked: 0 | 1;
}

export type RunningGuildJob = Pick<GuildJobRow, "id" | "guild_id" | "plan_hash" | "cancel_asked">;

export interface GuildJobStepRow extends RowOf<typeof guildJobTables, "guild_job_steps"> {
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

export const guildJobRows = rowsOf<GuildJobRow, "id">("guild_jobs", ["id"]);

/** Only steps that the job has started, or that failed. */
export const guildJobStepRows = rowsOf<GuildJobStepRow, "job_id" | "step_id">("guild_job_steps", ["job_id", "step_id"]);

export function selectRunningGuildJobs(sql: Sql): Promise<RunningGuildJob[]> {
	return sql<RunningGuildJob>`
		SELECT id, guild_id, plan_hash, cancel_asked FROM guild_jobs WHERE ended_at IS NULL ORDER BY started_at, id`;
}

export type GuildMessageRow = RowOf<typeof guildJobTables, "guild_messages">;

export const guildMessageRows = rowsOf<GuildMessageRow, "guild_id" | "channel_id" | "key">("guild_messages", [
	"guild_id",
	"channel_id",
	"key",
]);

export const undoneEntryRows = rowsOf<RowOf<typeof guildJobTables, "undone_entries">, "entry_id">("undone_entries", [
	"entry_id",
]);

/** Those of `ids` that were undone. */
export async function selectUndoneEntries(sql: Sql, ids: readonly string[]): Promise<Set<string>> {
	const found = new Set<string>();
	for (const batch of inBatches(ids, 100))
		for (const { entry_id } of await undoneEntryRows.all(sql, { entry_id: batch })) found.add(entry_id);
	return found;
}
