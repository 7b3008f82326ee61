// The bot applies a document to the copy, or restores a backup after half of the channels and roles were deleted.

import { lostForGood } from "../bot/guild-documents/plans/plan-text.ts";
import { listFirst } from "../lib/text.ts";
import { advance } from "./sandbox.ts";
import { report, type Scenario, type Stage, sumOf } from "./stage.ts";

const maxLines = 20;
const idleMs = 10_000;

/** In the name of the owner, on which settings depend. `source`: arguments of plan_guild. `isDone`: all of it was done. */
export async function carryOut({ tool, ask, sent }: Stage, source: object) {
	const text: string = await tool("plan_guild", source).catch(({ message }) => message);
	const [plan_hash] = /(?<=^plan_hash=)\w+/m.exec(text) ?? [];
	if (!plan_hash) return { lines: [text.replace("plan_guild: ", "")], isDone: false };
	const [job_id] = /\b[0-9a-f]{12}\b/.exec(await tool("apply_guild", { plan_hash })) ?? [];
	let job = job_id === undefined ? undefined : await ask("job", { job_id });
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
		isDone: problems.length === 0 && job?.state === "done",
	};
}

/** Of the first line of a plan or job. */
const afterColon = (text = "") => /^.*?\): (.*)/.exec(text)?.[1] ?? text;

export const playDocument: Scenario = async (stage, { change: document }) => ({
	lines: (await carryOut(stage, document === undefined ? { backup: "latest" } : { document })).lines,
});

export const playRestore: Scenario = async (stage, { backup, document, toml, counted }) => {
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
	const { lines, isDone } = await carryOut(stage, { backup: "latest" });
	// The copy has pictures of its own.
	const { emojis: _, members, ...before } = document;
	const { text } = await stage.plan({ ...before, ...(toml.intents.includes("GuildMembers") && { members }) });
	// Such as "+ channel #rules"; the members of the copy have no names.
	const left: string[] = text.replace(/^(~ role .* to \d+ members?): .*/gm, "$1").match(/^[+~^] .*/gm) ?? [];
	for (const { id = "", name } of document.roles ?? []) {
		const count = sumOf(counted.filter(({ roles }) => roles.includes(id)));
		if (count > 0 && !guild.roles.has(id)) left.push(`~ role ${name} to ${count} members who are only counted`);
	}
	return {
		lines: [
			`${deleted} of ${all.length} channels and roles were deleted.`,
			...lines,
			...listFirst(left, maxLines, "\n~ and ", "\n").split("\n"),
			`What no backup brings back: ${lostForGood}`,
		].flatMap((line) => line.replace(/^\+ /, "Not brought back: ").replace(/^[~^] /, "Not as before: ") || []),
		proven: isDone && (await stage.plan(backup?.document)).steps === 0 ? backup?.name : undefined,
	};
};
