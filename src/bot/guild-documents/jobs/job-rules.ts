// Which steps of a guild's difference a job carries out: those of its plan, and what things need that it has created.

import type { Step } from "../../../guild-document/steps.ts";
import type { GuildJobRow, GuildJobStepRow } from "../../store/tables/guild-jobs.ts";
import { thingText } from "../plans/plan-text.ts";
import { isEmptyOrder, isRole, type Plan, type PlannedStep } from "../plans/plans.ts";

/** How often a job does the same step, in case someone or Discord keeps undoing it. */
const maxTimesDone = 3;

export interface Job {
	row: GuildJobRow;
	plan: Plan;
	planned: ReadonlyMap<string, PlannedStep>;
	/** Ids of the channels that get the access of their category in this job. */
	following: ReadonlySet<string>;
	/** Rows of the steps that were started or have failed, by step id. */
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

/** Real ids by placeholder, such as "+role/Mods", which stands for the id before the thing is created. */
export function createdIds({ steps }: Job): Map<string, string> {
	return new Map(
		steps.values().flatMap(({ placeholder: one, target_id: id }) => (one && id ? [[one, id] as const] : [])),
	);
}

type Progress = ReturnType<typeof progressOf>;

function progressOf({ steps }: Job) {
	const creating = [...steps.values()].filter(({ placeholder }) => placeholder !== null);
	const created = creating.filter(({ target_id }) => target_id !== null);
	const failed = creating.filter(({ state }) => state === "failed");
	return {
		createdIds: new Set(created.map(({ target_id }) => target_id)),
		createdKinds: new Set(created.map(({ kind }) => kind)),
		failed: new Map(failed.map((row) => [row.placeholder, row])),
	};
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

/** `steps`: what still differs. `ids`: those of `createdIds`. In the order in which they are to run. */
export function runnable(steps: readonly Step[], job: Job, ids: ReadonlyMap<string, string>): Step[] {
	const available = new Set(ids.keys());
	const progress = progressOf(job);
	const possible = steps.filter((step) => {
		const row = job.steps.get(step.id);
		if (row?.state === "failed" || (row?.done_count ?? 0) >= maxTimesDone) return false;
		if (!step.needs.every((placeholder) => available.has(placeholder))) return false;
		// A planned step that needed something which failed is not done with something else.
		const planned = job.planned.get(step.id);
		if (planned && failedNeed(planned, progress) !== undefined) return false;
		if (!isShown(step, job, progress)) return false;
		if (isEmptyOrder(step, available)) return false;
		if (step.placeholder !== undefined) available.add(step.placeholder);
		return true;
	});
	const assignments = possible.filter(({ action }) => action === "assign");
	const others = possible.filter(({ action }) => action !== "assign");
	// Members get roles between new channels, so that both rate limits pass at once; but after edits, which may take access.
	const isBefore = ({ action, kind, follows }: Step) =>
		kind === "role" ? action !== "order" : follows || !/^(create|order)$/.test(action);
	const at = others.findLastIndex(isBefore) + 1;
	const mixed = others.slice(at).flatMap((step, index) => [step, ...assignments.slice(index, index + 1)]);
	return [...others.slice(0, at), ...mixed, ...assignments.slice(others.length - at)];
}

function failedNeed({ needs }: Pick<PlannedStep, "needs">, { failed }: Progress): GuildJobStepRow | undefined {
	return failed.get(needs.find((placeholder) => failed.has(placeholder)) ?? "");
}

export function newStepRow(
	step: Pick<Step, "id" | "action" | "kind" | "name" | "placeholder" | "targetId">,
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

/** The entries of a restore all of whose steps were done. */
export function undoneBy({ plan, steps }: Job): string[] {
	const entries = (isDone: boolean) =>
		plan.steps.flatMap(({ id, undoes = [] }) => {
			const state = steps.get(id)?.state;
			return state !== undefined && (state === "done") === isDone ? undoes : [];
		});
	return [...new Set(entries(true)).difference(new Set(entries(false)))];
}

/**
 * Once no more steps can run. `steps`: what still differs. `failed`: with the reason in `error`. `others`: number of
 * differences that were not in the plan.
 */
export function leftoversOf(steps: readonly Step[], job: Job) {
	const refused = new Set(job.plan.refusals.map(({ stepId }) => stepId));
	const progress = progressOf(job);
	const after: Job = { ...job, steps: new Map(job.steps) };
	const failed: GuildJobStepRow[] = [];
	let others = 0;
	for (const step of steps) {
		const row = after.steps.get(step.id);
		if (row?.state === "failed" || refused.has(step.id) || isEmptyOrder(step, new Set())) continue;
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
						? `it needs ${thingText({ kind: need.kind as Step["kind"], name: need.name })}, which was not done`
						: "someone changed it meanwhile, so it is not what the plan shows",
		};
		after.steps.set(step.id, entry);
		// A failure can be the reason for those after it.
		if (step.placeholder !== undefined) progress.failed.set(step.placeholder, entry);
		failed.push(entry);
	}
	return { failed, others };
}
