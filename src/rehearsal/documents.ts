// The bot applies a document to the copy, or restores a backup after half of the channels and roles were deleted.

import { lostForGood } from "../bot/guild-documents/plans/plan-text.ts";
import { advance } from "./sandbox.ts";
import { report, type Scenario, type Stage } from "./stage.ts";

const maxLines = 20;
/** Of the document in a call of a tool. */
const maxCallBytes = 900_000;
const idleMs = 10_000;

/** In the name of the owner, on which settings depend, unless the document is too large for a call of a tool. */
async function planAndApply({ tool, ask, plan }: Stage, document: unknown) {
	const isLarge = Buffer.byteLength(JSON.stringify(document)) > maxCallBytes;
	const text = isLarge ? (await plan(document)).text : await tool("plan_guild", { document });
	const [plan_hash = ""] = /(?<=^plan_hash=)\w+/m.exec(text) ?? [];
	if (isLarge) return { text, job: (await ask("apply", { plan_hash })).job };
	const [job_id] = /\b[0-9a-f]{12}\b/.exec(await tool("apply_guild", { plan_hash })) ?? [];
	return { text, job: job_id === undefined ? undefined : await ask("job", { job_id }) };
}

/** `isDone`: all was done, and nothing of the document is left to do. */
export async function carryOut(stage: Stage, document: unknown) {
	const { ask, sent } = stage;
	const planned = await planAndApply(stage, document).catch(({ message }) => String(message));
	if (typeof planned === "string")
		return { lines: [planned.replace(/^\w+_guild: |\nplan_hash=.*/gs, "")], isDone: false };
	const { text } = planned;
	let { job } = planned;
	while (job?.state === "running") {
		// Looked at when nothing is sent any more: it may have 20,000 steps.
		for (let before = -1; before < sent.length; await advance(idleMs)) before = sent.length;
		job = await ask("job", { job_id: job.job_id });
	}
	const said: string[] = (job?.text ?? text).split("\n");
	const problems = said.filter((line) => /^(failed|cannot|outcome unknown): /.test(line));
	const none = problems.length > 0 ? "nothing could be done" : "nothing was left to do";
	const estimated = /^Estimated time: .*/m.exec(text)?.[0] ?? [];
	const ended = job ? afterColon(said[0]) : none;
	return {
		lines: [`The plan: ${afterColon(text)}`, estimated, `The job: ${ended}`, problems.slice(0, maxLines)].flat(2),
		isDone: problems.length === 0 && (!job || job.state === "done"),
	};
}

/** Of the first line of a plan or job. */
const afterColon = (text = "") => /^.*?\): (.*)/.exec(text)?.[1] ?? text;

export const playDocument: Scenario = async (stage, { change, backup }) => ({
	lines: (await carryOut(stage, change ?? backup?.document)).lines,
});

export const playRestore: Scenario = async (stage, { backup, document, toml }) => {
	const { guild, owner, request } = stage;
	const all = [
		...Array.from(guild.channels.keys(), (id) => `/channels/${id}`),
		...[...guild.roles.values()].flatMap(({ id, managed }) =>
			managed || id === guild.id ? [] : `/guilds/${guild.id}/roles/${id}`,
		),
	];
	let deleted = 0;
	const order = all.map((path) => ({ path, at: Math.random() })).sort((a, b) => a.at - b.at);
	for (const { path } of order.slice(0, Math.ceil(all.length / 2)))
		if (await request(owner, "DELETE", path)) deleted += 1;
	await advance(60_000);
	stage.begin();
	report({ step: "restoring the backup" });
	const { lines, isDone } = await carryOut(stage, backup?.document);
	// The copy has pictures of its own.
	const { emojis: _, members, ...before } = document;
	const isKnown = toml.intents.includes("GuildMembers");
	const { text } = await stage.plan({ ...before, ...(isKnown && { members }) });
	// Such as "+ channel #rules"; the members of the copy have no names.
	const left = text.replace(/^(~ role .* to \d+ members?): .*/gm, "$1").match(/^[+~^] .*/gm) ?? [];
	const isWrong = left.some((line) => /^\+|^~ role .* to \d+ members?$|[:,] (?:permissions|access)\b/.test(line));
	return {
		lines: [
			`${deleted} of ${all.length} channels and roles were deleted.`,
			...lines,
			...left
				.slice(0, maxLines)
				.map((line) => `Not ${line.startsWith("+") ? "brought back" : "as before"}: ${line.slice(2)}`),
			...(left.length > maxLines ? [`Not as before: ${left.length - maxLines} more.`] : []),
			`What no backup brings back: ${lostForGood}`,
		],
		proven: isDone && deleted > 0 && !isWrong ? backup?.name : undefined,
	};
};
