// The bot applies a document to the copy, or restores a backup after half of the channels and roles were deleted.

import { lostForGood } from "../bot/guild-documents/plans/plan-text.ts";
import { listFirst } from "../lib/text.ts";
import { report, type Scenario, type Stage } from "./stage.ts";
import { advance } from "./virtual-time.ts";

const maxProblems = 20;

/** `isDone`: all was done, and nothing of the document is left to do. */
export async function carryOut({ tool }: Stage, document: unknown) {
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
	const things = () => [
		...[...guild.channels.values()].map(({ id, name, type }) => ({
			path: `/channels/${id}`,
			name: `${type === 4 ? "the category " : "#"}${name}`,
		})),
		...[...guild.roles.values()].flatMap(({ id, name, managed }) =>
			managed || id === guild.id ? [] : { path: `/guilds/${guild.id}/roles/${id}`, name: `@${name}` },
		),
	];
	const all = things();
	let deleted = 0;
	const order = all.map((thing) => ({ ...thing, at: random() })).sort((a, b) => a.at - b.at);
	for (const { path } of order.slice(0, Math.ceil(all.length / 2)))
		if (await request(owner, "DELETE", path)) deleted += 1;
	await advance(60_000);
	stage.begin();
	report({ step: "restoring the backup" });
	const { lines, isDone } = await carryOut(stage, backup?.document);
	const there = things().map(({ name }) => name);
	// Several things may have one name.
	const lost = all.flatMap(({ name }) => {
		const at = there.indexOf(name);
		if (at >= 0) there.splice(at, 1);
		return at >= 0 ? [] : name;
	});
	const first = `${deleted} of ${all.length} channels and roles were deleted.`;
	const missing = lost.length > 0 ? [`The backup did not bring back ${listFirst(lost, maxProblems)}.`] : [];
	return {
		lines: [first, ...lines, ...missing, `Not brought back: ${lostForGood}`],
		proven: isDone && deleted > 0 && lost.length === 0 ? backup?.name : undefined,
	};
};
