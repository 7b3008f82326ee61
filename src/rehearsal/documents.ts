// The bot applies a document to the copy, or restores a backup after half of the channels and roles were deleted.

import { lostForGood } from "../bot/guild-documents/plans/plan-text.ts";
import { lostBetween } from "../guild-document/compare.ts";
import { listFirst } from "../lib/text.ts";
import { report, type Scenario, type Stage } from "./stage.ts";
import { advance } from "./virtual-time.ts";

const maxProblems = 20;

/** `isDone`: all was done, and nothing of the document is left to do. */
export async function carryOut(stage: Stage, document: unknown) {
	const { tool } = stage;
	const plan = await stage.plan(document);
	const [, planned = plan] = /^Plan for .*?\): (.*)/.exec(plan) ?? [];
	const [plan_hash] = /(?<=^plan_hash=)\w+/m.exec(plan) ?? [];
	const [estimated] = /^Estimated time: .*/m.exec(plan) ?? [];
	let job = await tool("apply_guild", { plan_hash });
	const [job_id] = /(?<=^Job )\w+/m.exec(job) ?? [];
	// A call reads the whole plan, which may have 20,000 steps.
	for (let ms = 10_000; /^Job .*\): running/m.test(job); ms *= 1.05) {
		await advance(ms);
		job = await tool("get_job", { job_id });
	}
	const problems = job.split("\n").filter((line) => /^(failed|cannot|outcome unknown): /.test(line));
	const none = problems.length > 0 ? "nothing could be done" : "nothing was left to do";
	const [, ended = none] = /^Job .*?\): (.*)/m.exec(job) ?? [];
	const lines = [`The plan: ${planned}`, estimated, `The job: ${ended}`, ...problems.slice(0, maxProblems)];
	return {
		lines: lines.filter((line) => line !== undefined),
		isDone: problems.length === 0 && (!job_id || ended.startsWith("done")),
	};
}

export const playDocument: Scenario = async (stage, { change, backup }) => ({
	lines: (await carryOut(stage, change ?? backup?.document)).lines,
});

export const playRestore: Scenario = async (stage, { backup }, random) => {
	const { guild, owner, request } = stage;
	const all = [
		...Array.from(guild.channels.keys(), (id) => `/channels/${id}`),
		...[...guild.roles.values()].flatMap(({ id, managed }) =>
			managed || id === guild.id ? [] : `/guilds/${guild.id}/roles/${id}`,
		),
	];
	const before = await stage.document();
	let deleted = 0;
	const order = all.map((path) => ({ path, at: random() })).sort((a, b) => a.at - b.at);
	for (const { path } of order.slice(0, Math.ceil(all.length / 2)))
		if (await request(owner, "DELETE", path)) deleted += 1;
	await advance(60_000);
	stage.begin();
	report({ step: "restoring the backup" });
	const { lines, isDone } = await carryOut(stage, backup?.document);
	const after = await stage.document();
	const held = new Map(after.members?.map(({ id, roles }) => [id, new Set(roles)]));
	const roles = before.members?.flatMap(({ id, roles }) => roles.map((role) => held.get(id)?.has(role) ?? false)) ?? [];
	const gone = roles.filter((isHeld) => !isHeld).length;
	const lost = lostBetween(before, after);
	const list = (what: string, names: readonly string[]) =>
		names.length > 0 ? [`${what}: ${listFirst(names, maxProblems)}.`] : [];
	return {
		lines: [
			`${deleted} of ${all.length} channels and roles were deleted.`,
			...lines,
			...lost.flatMap(({ part, gone }) => list(`Not brought back: ${part}`, gone)),
			...lost.flatMap(({ part, changed }) => list(`Not as before: ${part}`, changed)),
			...(gone > 0 ? [`Not brought back: ${gone} of the ${roles.length} roles that members had.`] : []),
			`What no backup brings back: ${lostForGood}`,
		],
		proven: isDone && deleted > 0 && lost.every(({ gone }) => gone.length === 0) ? backup?.name : undefined,
	};
};
