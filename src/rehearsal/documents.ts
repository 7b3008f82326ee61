// The bot applies a document to the copy, or restores a backup after half of the channels and roles were deleted.

import { lostForGood } from "../bot/guild-documents/plans/plan-text.ts";
import { report, type Scenario, type Stage } from "./stage.ts";
import { advance } from "./virtual-time.ts";

const maxProblems = 20;

/** `isDone`: all was done, and nothing of the document is left to do. */
async function carryOut({ tool }: Stage, document: unknown) {
	const plan = await tool("plan_guild", { document });
	const [, planned = plan] = /^Plan for .*?\): (.*)/.exec(plan) ?? [];
	const [plan_hash] = /(?<=^plan_hash=)\w+/m.exec(plan) ?? [];
	const [estimated] = /^Estimated time: .*/m.exec(plan) ?? [];
	let job = await tool("apply_guild", { plan_hash });
	const [job_id] = /(?<=^Job )\w+/m.exec(job) ?? [];
	while (/^Job .*\): running/m.test(job)) {
		await advance(10_000);
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

export const playDocument: Scenario = async (stage, { change }) => ({ lines: (await carryOut(stage, change)).lines });

export const playRestore: Scenario = async (stage, { backup }, random) => {
	const { guild, owner, request } = stage;
	const roles = [...guild.roles.values()].filter(({ id, managed }) => !managed && id !== guild.id);
	const paths = [...guild.channels.keys()].map((id) => `/channels/${id}`);
	paths.push(...roles.map(({ id }) => `/guilds/${guild.id}/roles/${id}`));
	let deleted = 0;
	for (const path of paths) if (random() < 0.5 && (await request(owner, "DELETE", path))) deleted += 1;
	await advance(60_000);
	stage.begin();
	report({ step: "restoring the backup" });
	const { lines, isDone } = await carryOut(stage, backup?.document);
	const first = `${deleted} of ${paths.length} channels and roles were deleted.`;
	return { lines: [first, ...lines, `Not brought back: ${lostForGood}`], proven: isDone ? backup?.name : undefined };
};
