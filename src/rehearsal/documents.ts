// The bot applies a document to the copy, or restores a backup after half of the channels and roles were deleted.

import { lostForGood } from "../bot/guild-documents/plans/plan-text.ts";
import { channelsWithCategories } from "../guild-document/format/references.ts";
import { listFirst } from "../lib/text.ts";
import { timeOf } from "../simulator/world/state/snowflake.ts";
import { advance } from "./sandbox.ts";
import { report, type Scenario, type Stage, sumOf } from "./stage.ts";

const maxLines = 20;
const idleMs = 10_000;

/** In the name of the owner, on which settings depend. `source`: arguments of plan_guild. `isDone`: all of it was done. */
export async function carryOut({ tool, ask, sent }: Stage, source: object) {
	const refused = ({ message }: Error) => message.replace(/^plan_guild: |\nplan_hash=.*/gs, "").split("\n");
	const text = await tool("plan_guild", source).catch(refused);
	if (typeof text !== "string") return { lines: text, isDone: false };
	const [plan_hash] = /(?<=^plan_hash=)\w+/m.exec(text) ?? [];
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
	const roles = guild.roles.values().filter(({ id, managed }) => !managed && id !== guild.id);
	const rolePaths = roles.map(({ id }) => `/guilds/${guild.id}/roles/${id}`);
	const all = [...guild.channels.keys().map((id) => `/channels/${id}`), ...rolePaths];
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
	const held = JSON.stringify(backup?.document);
	// What is younger than the backup cannot be in it.
	const isLacking = ({ id = "" }) => id && timeOf(id) < Number(backup?.madeAt) && !held.includes(`"id":"${id}"`);
	const channels = channelsWithCategories(document).map(({ channel }) => channel);
	const lacking = [...channels, ...(document.roles ?? [])].filter(isLacking).map(({ name }) => name);
	return {
		lines: [
			`${deleted} of ${all.length} channels and roles were deleted.`,
			...lines,
			...listFirst(left, maxLines, "\n~ and ", "\n").split("\n"),
			lacking.length > 0 ? `Older than the backup, but not in it: ${listFirst(lacking, maxLines)}` : "",
			`What no backup brings back: ${lostForGood}`,
		].flatMap((line) => line.replace(/^\+ /, "Not brought back: ").replace(/^[~^] /, "Not as before: ") || []),
		proven:
			lacking.length === 0 && isDone && (await stage.plan(backup?.document)).steps === 0 ? backup?.name : undefined,
	};
};
