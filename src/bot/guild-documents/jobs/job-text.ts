// Jobs as text for assistants and people: how far a job is, what failed and why.

import { time } from "../../../discord/describe.ts";
import { countOf, oneField, oneLine, resultLines } from "../../../discord/text.ts";
import type { Refusal } from "../../../guild-document/steps.ts";
import type { GuildJobState, GuildJobStepRow } from "../../store/tables/guild-jobs.ts";
import { fitting, maxPlanBytes, refusalLine, stepLine, thingText } from "../plans/plan-text.ts";
import type { PlannedStep } from "../plans/plans.ts";
import type { Job } from "./job-rules.ts";

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
	const done = plan.steps.filter((step) => steps.get(step.id)?.state === "done");
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
		? ["get_job shows further progress. cancel_job stops the job after the running step."]
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
