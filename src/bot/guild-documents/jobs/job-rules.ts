// Which steps of a guild's difference a job carries out: those of its plan, and what things need that it has created.

import type { Step } from "../../../guild-document/steps.ts";
import type { GuildJobRow, GuildJobStepRow } from "../../store/tables/guild-jobs.ts";
import { thingText } from "../plans/plan-text.ts";
import { isEmptyOrder, isRole, type Plan, type PlannedStep } from "../plans/plans.ts";

/**
 * Maximum number of times that an apply_guild job carries out the same step, in case someone or Discord keeps undoing
 * it.
 */
const maxTimesDone = 3;

export interface Job {
	row: GuildJobRow;
	plan: Plan;
	planned: ReadonlyMap<string, PlannedStep>;
	/** Ids of the channels that get the access of their category in this job. */
	following: ReadonlySet<string>;
	/** Database rows of the steps that the apply_guild job has started or that have failed, by step id. */
	steps: Map<string, GuildJobStepRow>;
}

export function toJob(row: GuildJobRow, steps: readonly GuildJobStepRow[]): Job {
	const plan = JSON.parse(row.content) as Plan;
	return {
		row,
		plan,
		planned: new Map(plan.steps.map((step) => [step.id, step])),
		following: new Set(plan.steps.flatMap(({ follows, targetId = "" }) => (follows ? targetId : []))),
		steps: new Map(steps.map((step) => [step.step_id, step])),
	};
}

/**
 * Returns the ids of the roles, channels and other objects that an apply_guild job has created, by placeholder. A
 * placeholder, such as "+role/Mods", stands for the id of an object before it is created.
 */
export function createdIds({ steps }: Job): Map<string, string> {
	const ids = new Map<string, string>();
	for (const { placeholder, target_id } of steps.values())
		if (placeholder !== null && target_id !== null) ids.set(placeholder, target_id);
	return ids;
}

interface Progress {
	createdIds: ReadonlySet<string>;
	createdKinds: ReadonlySet<string>;
	failed: Map<string, GuildJobStepRow>;
}

function progressOf({ steps }: Job): Progress {
	const createdIds = new Set<string>();
	const createdKinds = new Set<string>();
	const failed = new Map<string, GuildJobStepRow>();
	for (const row of steps.values()) {
		const { placeholder, target_id, kind, state } = row;
		if (placeholder === null) continue;
		if (state === "failed") failed.set(placeholder, row);
		if (target_id === null) continue;
		createdIds.add(target_id);
		createdKinds.add(kind);
	}
	return { createdIds, createdKinds, failed };
}

function isShown(step: Step, job: Job, { createdIds, createdKinds }: Progress): boolean {
	const isOfCreated = step.targetId !== undefined && createdIds.has(step.targetId);
	const planned = job.planned.get(step.id);
	if (step.action === "edit" && isOfCreated) return true;
	// New things have to be put in their places.
	if (step.action === "order" && !planned) return [...createdKinds].some((kind) => isRole(kind) === isRole(step.kind));
	if (!planned) return false;
	if (step.action !== "edit" && step.action !== "assign") return true;
	// What someone else has changed meanwhile was not shown.
	return step.changes.every(({ field, after }) =>
		planned.changes.some((change) => change.field === field && change.after === after),
	);
}

/**
 * Returns the steps that an apply_guild job should carry out next. `steps` are the remaining differences between guild
 * and document. `ids` maps placeholders, which stand for the ids of new objects, to the real ids of those that the job
 * has created.
 */
export function runnable(steps: readonly Step[], job: Job, ids: ReadonlyMap<string, string>): Step[] {
	const available = new Set(ids.keys());
	const progress = progressOf(job);
	return steps.filter((step) => {
		const row = job.steps.get(step.id);
		if (row?.state === "failed") return false;
		if ((row?.done_count ?? 0) >= maxTimesDone) return false;
		if (!step.needs.every((placeholder) => available.has(placeholder))) return false;
		// A planned step that needed something which failed is not done with something else.
		const planned = job.planned.get(step.id);
		if (planned && failedNeed(planned, progress) !== undefined) return false;
		if (!isShown(step, job, progress)) return false;
		if (isEmptyOrder(step, available)) return false;
		if (step.placeholder !== undefined) available.add(step.placeholder);
		return true;
	});
}

function failedNeed({ needs }: Pick<PlannedStep, "needs">, { failed }: Progress): GuildJobStepRow | undefined {
	const need = needs.find((placeholder) => failed.has(placeholder));
	return need === undefined ? undefined : failed.get(need);
}

/** Returns a new database row for a step that an apply_guild job has not started. */
export function newStepRow(
	step: Pick<Step, "id" | "action" | "kind" | "name"> & {
		placeholder?: string | undefined;
		targetId?: string | undefined;
	},
	{ row, steps }: Job,
): GuildJobStepRow {
	return {
		job_id: row.id,
		step_id: step.id,
		state: "open",
		action: step.action,
		kind: step.kind,
		name: step.name,
		mark: String(steps.size + 1),
		after_id: "0",
		placeholder: step.placeholder ?? null,
		target_id: step.targetId ?? null,
		done_count: 0,
		error: null,
	};
}

export interface Leftovers {
	/** Steps of the apply_guild job that were not carried out, each with the reason in `error`. */
	failed: GuildJobStepRow[];
	/** Number of remaining differences between the guild and its document that were not in the plan. */
	others: number;
}

/**
 * Returns what an apply_guild job has not done, once it cannot carry out any more steps. `steps` are the remaining
 * differences between the guild and the document.
 */
export function leftoversOf(steps: readonly Step[], job: Job): Leftovers {
	const refused = new Set(job.plan.refusals.map(({ stepId }) => stepId));
	const progress = progressOf(job);
	const after: Job = { ...job, steps: new Map(job.steps) };
	const failed: GuildJobStepRow[] = [];
	let others = 0;
	for (const step of steps) {
		const row = after.steps.get(step.id);
		if (row?.state === "failed" || refused.has(step.id)) continue;
		if (isEmptyOrder(step, new Set())) continue;
		const planned = job.planned.get(step.id);
		if (!row && !planned) {
			others += 1;
			continue;
		}
		const need = failedNeed(planned ?? step, progress);
		const entry: GuildJobStepRow = {
			...(row ?? newStepRow(step, after)),
			state: "failed",
			error:
				(row?.done_count ?? 0) >= maxTimesDone
					? `it was done ${maxTimesDone} times and is still different: someone or Discord changes it back`
					: need
						? `it needs ${describeStep(need)}, which was not done`
						: "someone changed it meanwhile, so it is not what the plan shows",
		};
		after.steps.set(step.id, entry);
		// A failure can be the reason for those after it.
		if (step.placeholder !== undefined) progress.failed.set(step.placeholder, entry);
		failed.push(entry);
	}
	return { failed, others };
}

function describeStep({ kind, name }: GuildJobStepRow): string {
	return thingText({ kind: kind as Step["kind"], name, targetId: undefined });
}
