// Carries out plans. A job is stored before anything is sent; job-run.ts has its steps. Also jobs as text.

import { type Client, Events } from "discord.js";
import { onSessionOrGuild } from "../../../discord/connection/session-events.ts";
import { time } from "../../../discord/describe.ts";
import { describePlatformError } from "../../../discord/rest/errors.ts";
import { PlatformBusy, PlatformFailure, PlatformTimeout } from "../../../discord/rest/rest.ts";
import { countOf, oneField, oneLine, resultLines } from "../../../discord/text.ts";
import type { Refusal } from "../../../guild-document/steps.ts";
import type { Sql } from "../../../lib/store/statement.ts";
import { ToolError } from "../../../lib/tool-error.ts";
import { raceSignal, within } from "../../../lib/wait.ts";
import type { ToolCall } from "../../../mcp/tool.ts";
import { Durable, type DurableOptions, NotNow, reasonOf } from "../../store/durable.ts";
import {
	type GuildJobRow,
	type GuildJobState,
	type GuildJobStepRow,
	guildJobRows,
	type RunningGuildJob,
	selectRunningGuildJobs,
} from "../../store/tables/guild-jobs.ts";
import { fitting, maxPlanBytes, refusalLine, stepLine, thingText } from "../plans/plan-text.ts";
import type { Plan, PlannedStep } from "../plans/plans.ts";
import type { Job } from "./job-rules.ts";
import { JobRun, type JobRunOptions, loadJob } from "./job-run.ts";

const maxFailures = 5;
/** Between two reports of progress to a call that waits. */
const progressMs = 1_000;

/** A call that waits for the end of a job. */
export type Waiting = Pick<ToolCall, "signal" | "reportProgress">;

export interface JobsOptions
	extends Omit<JobRunOptions, "now" | "monotonicNow" | "closing">,
		Pick<DurableOptions, "backOffMs"> {
	/** Wall clock in epoch milliseconds, which may jump. */
	now?: () => number;
	/** Milliseconds of a clock that never jumps. Default: `performance.now()`. */
	monotonicNow?: () => number;
}

export class Jobs {
	readonly #sql: Sql;
	readonly #closing = new AbortController();
	readonly #runOptions: JobRunOptions;
	/** By job id. */
	readonly #runs = new Map<string, JobRun>();
	readonly #work: Durable;

	constructor(private readonly options: JobsOptions) {
		const { store, now = Date.now, monotonicNow = () => performance.now() } = options;
		this.#sql = store.sql;
		this.#runOptions = { ...options, now, monotonicNow, closing: this.#closing.signal };
		this.#work = new Durable({
			...options,
			name: "apply_guild jobs",
			// Jobs of different guilds.
			maxConcurrent: 3,
			scan: async () =>
				(await selectRunningGuildJobs(this.#sql)).map(({ id, guild_id, cancel_asked }) => ({
					key: guild_id,
					inMs: cancel_asked === 1 ? 0 : (this.#runs.get(id)?.wait?.until ?? 0) - monotonicNow(),
					failure: "apply_guild job failed",
					fields: { job: id, guild: guild_id },
					run: () => this.#run(id),
				})),
		});
	}

	#runOf(id: string): JobRun {
		return this.#runs.getOrInsertComputed(id, () => new JobRun(id, this.#runOptions));
	}

	/** Rejects if the job must be retried. */
	async #run(id: string): Promise<void> {
		const run = this.#runOf(id);
		run.wait = undefined;
		try {
			await run.work();
			run.failures = 0;
		} catch (error) {
			if (error instanceof PlatformBusy) return run.pause(error.retryAfterMs, describePlatformError(error));
			const why = reasonOf(error) ?? "an internal error";
			run.wait = { why, until: 0 };
			const temporary = [NotNow, ToolError, PlatformTimeout, PlatformFailure];
			if (temporary.some((type) => error instanceof type)) throw new NotNow(why);
			run.failures += 1;
			if (run.failures < maxFailures) throw error;
			await run.end("failed", `it cannot continue: ${why}`);
		} finally {
			if (run.isEnded) this.#runs.delete(id);
		}
	}

	/** Stores and starts a job; undefined if the guild already has a running one. */
	async begin(plan: Plan, hash: string, reason: string): Promise<GuildJobRow | undefined> {
		const row: GuildJobRow = {
			id: crypto.randomUUID().replaceAll("-", "").slice(0, 12),
			guild_id: plan.guildId,
			plan_hash: hash,
			content: JSON.stringify(plan),
			reason,
			state: "running",
			cancel_asked: 0,
			note: null,
			started_at: this.#runOptions.now(),
			ended_at: null,
		};
		try {
			// A guild has one running job.
			if (!(await guildJobRows.add(this.#sql, [row]))) return undefined;
		} finally {
			// Also after a failure: the row may have been stored anyway.
			this.#work.wake();
		}
		this.options.log.info("apply_guild job started", { job: row.id, guild: row.guild_id, steps: plan.steps.length });
		return row;
	}

	async runningIn(guildId: string): Promise<RunningGuildJob | undefined> {
		return (await selectRunningGuildJobs(this.#sql)).find(({ guild_id }) => guild_id === guildId);
	}

	async find(id: string) {
		const job = await loadJob(this.#sql, id);
		return job && { job, wait: this.#runs.get(id)?.wait };
	}

	/** The latest first. */
	async idsOf(guild_id: string, limit: number): Promise<string[]> {
		return (await guildJobRows.all(this.#sql, { guild_id }, "started_at DESC, id", limit)).map(({ id }) => id);
	}

	/** At once if it is not running. */
	async #ended(id: string): Promise<true> {
		const { ending } = this.#runOf(id);
		const row = await guildJobRows.first(this.#sql, { id });
		// It may have ended before.
		if (row?.ended_at === null) await ending.promise;
		else this.#runs.delete(id);
		return true;
	}

	/** Whether it has ended, after at most `waitMs`: earlier if the caller cancels. Reports how many steps are done. */
	async wait(id: string, waitMs: number, { signal, reportProgress }: Waiting): Promise<boolean> {
		const ended = this.#ended(id);
		const cancelled = (error: unknown) => {
			if (!signal?.aborted) throw error;
			return false;
		};
		const watched = signal ? raceSignal(ended, signal).catch(cancelled) : ended;
		for (let leftMs = waitMs; leftMs > 0; leftMs -= progressMs) {
			const isOver = await within(Math.min(leftMs, progressMs), watched);
			if (isOver !== "late") return isOver;
			const { job } = (await this.find(id)) ?? {};
			if (job) reportProgress(doneIn(job).length, job.plan.steps.length);
		}
		return false;
	}

	/** After the current step. False if it is not running. */
	async cancel(id: string): Promise<boolean> {
		const isRunning = await guildJobRows.change(this.#sql, { id }, { cancel_asked: 1 }, { ended_at: null });
		if (isRunning) this.#runOf(id).isCancelled = true;
		this.#work.retryAll();
		return isRunning !== undefined;
	}

	attach(client: Client): void {
		onSessionOrGuild(client, this.#work.retryAll);
		client.on(Events.GuildDelete, this.#work.retryAll);
	}

	start(): void {
		this.#work.wake();
	}

	close(): Promise<void> {
		this.#closing.abort();
		return this.#work.close();
	}
}

export const doneIn = ({ plan, steps }: Job) => plan.steps.filter(({ id }) => steps.get(id)?.state === "done");

const stateTexts: Record<GuildJobState, string> = {
	running: "running",
	done: "done",
	failed: "ended, not everything was done",
	cancelled: "cancelled",
};

interface JobTextOptions {
	guildName: string;
	/** Why the job is paused; 0 seconds if the time is unknown. */
	waiting?: { why: string; seconds: number } | undefined;
}

/** What was created and what failed; for a cancelled or failed job also the steps that were done. */
export function jobText(job: Job, { guildName, waiting }: JobTextOptions): string {
	const { row, plan, steps } = job;
	const { id, state, started_at, ended_at, note } = row;
	const done = doneIn(job);
	const failed = [...steps.values()].filter(({ state }) => state === "failed");
	const isRunning = ended_at === null;
	const unknown = [...steps.values()].filter(({ state }) => state === "asked" && !isRunning);
	const head = resultLines(
		`Job ${id} in ${guildName}: ${isRunning && row.cancel_asked ? "being cancelled" : stateTexts[state]}, ${done.length} of ${countOf(plan.steps.length, "step")} done${failed.length > 0 ? `, ${failed.length} failed` : ""}`,
		`Started ${time(started_at)}${ended_at === null ? "" : `, ended ${time(ended_at)}`}, plan_hash=${row.plan_hash}`,
		isRunning && waiting && `Waiting${waiting.seconds > 0 ? ` ${waiting.seconds} s` : ""}: ${oneLine(waiting.why)}`,
		note !== null && `Note: ${oneLine(note)}`,
	);
	const rest = plan.steps.length - done.length - failed.filter(({ step_id }) => job.planned.has(step_id)).length;
	const planner = plan.restore ? "undo_actions" : "plan_guild with the same document";
	const end = isRunning
		? [
				"get_job shows further progress; with wait, it waits for the end. cancel_job stops the job after the running step.",
			]
		: resultLines(
				state === "done" && "The guild was read again: nothing of the plan is left to do.",
				state === "done" && rest > 0 && `${countOf(rest, "step")} had no request: the guild was like this already.`,
				state !== "done" && `What was done stays. ${planner} plans what is left.`,
			);
	const entries = [
		...failed.map((step) => ({
			line: `failed: ${lineOf(step, job)}: ${oneLine(step.error ?? "")}`,
			group: "failed",
			isFirst: true,
		})),
		...unknown.map((step) => ({
			line: `outcome unknown: ${lineOf(step, job)}: the request was sent, and no response came back`,
			group: "outcome unknown",
			isFirst: true,
		})),
		...createdLines(job).map((line) => ({ line, group: "created" })),
		...plan.refusals.map((refusal: Refusal) => ({ line: refusalLine("cannot", refusal), group: "cannot" })),
		...(state === "cancelled" || state === "failed"
			? done.map((step) => ({ line: `done: ${stepLine(step)}`, group: `done: ${step.action} ${step.kind}` }))
			: []),
	];
	const bytes = Buffer.byteLength([...head, ...end].join("\n"));
	return [...head, ...fitting(entries, maxPlanBytes - bytes), ...end].join("\n");
}

function createdLines({ plan, steps }: Job): string[] {
	const created = plan.steps
		.flatMap(({ id }) => steps.get(id) ?? [])
		.filter(({ placeholder, target_id }) => placeholder !== null && target_id !== null);
	return Array.from(
		Map.groupBy(created, ({ kind }) => kind),
		([kind, things]) =>
			`created ${kind}: ${things.map(({ name, target_id }) => `${oneField(name)} (ID: ${target_id})`).join(", ")}`,
	);
}

function lineOf({ step_id, action, name, target_id, ...row }: GuildJobStepRow, { planned }: Job): string {
	const kind = row.kind as PlannedStep["kind"];
	return `${action} ${thingText(planned.get(step_id) ?? { kind, name, targetId: target_id ?? undefined })}`;
}
