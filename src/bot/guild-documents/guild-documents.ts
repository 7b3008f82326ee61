// What tools, the HTTP route and the command line do with guild documents, in one object. Its methods reject with a ToolError
// if something is not possible, such as without the database.

import type { Client, Guild } from "discord.js";
import { currentPerson } from "../../discord/acting-person.ts";
import { guildName } from "../../discord/describe.ts";
import { noteItem } from "../../discord/rest/rest.ts";
import { resultLines } from "../../discord/text.ts";
import {
	type GuildDocument,
	InvalidDocument,
	type Part,
	partNames,
	readChanges,
	readDocument,
} from "../../guild-document/format/document.ts";
import { mergeDocuments } from "../../guild-document/format/merge.ts";
import { exportDocument } from "../../guild-document/read/export.ts";
import { permissionNames } from "../../guild-document/read/from-api.ts";
import type { Restore } from "../../guild-document/restore.ts";
import { nextTurn } from "../../lib/slices.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { selectGuildPlans, selectUndoneEntries } from "../store/tables/guild-jobs.ts";
import { ignoreUnavailable } from "../store/unavailable.ts";
import type { Backups } from "./backups/backups.ts";
import { doneIn, Jobs, type JobsOptions, jobText, type Waiting } from "./jobs/jobs.ts";
import { doneSince, isPartOf, lostForGood, namesText, type PlanTextOptions, planText } from "./plans/plan-text.ts";
import { invalidText, keepPlan, makePlan, type Plan, partsOf, requirePlan, withOwnAccess } from "./plans/plans.ts";
import { type Unreadable, unseenIn } from "./read/read-guild.ts";
import { Rehearsals } from "./rehearsals/rehearsals.ts";

export interface GuildDocumentsOptions extends JobsOptions {
	backups: Pick<Backups, "list" | "read" | "prove">;
}

export type PlanSource =
	/** All or part of a guild, parsed or as JSON or YAML text; not validated yet. */
	| { document: unknown }
	/** Such as "12" or "latest"; of another guild "123456789012345678/12", if the caller may touch that. */
	| { backup: string; mayTouch?: MayTouch }
	/** The hash of an earlier plan, and a partial document that is merged into that plan's document. */
	| { plan: string; changes: unknown };

type MayTouch = (guildId: string) => boolean;

interface PlanOptions {
	/** Delete what a section does not list. */
	prune?: boolean | undefined;
	maxBytes?: number | undefined;
	/** Otherwise steps that a change of an earlier plan has in common with that are only counted, except deletions. */
	isWhole?: boolean;
}

export interface ExportedGuild {
	document: GuildDocument;
	/** Lines that say which sections, such as bans, are missing, and why. */
	missing: readonly string[];
}

export type GuildDocuments = ReturnType<typeof createGuildDocuments>;

const optionalParts: readonly Part[] = ["messages", "members", "bans"];
const shownJobs = 5;
const shownPlans = 5;
const started = "Started.";
const noCall: Waiting = { signal: undefined, reportProgress() {} };

type Shown = Pick<PlanTextOptions, "maxBytes" | "remarks" | "earlier" | "permissionsOf">;

export function createGuildDocuments(options: GuildDocumentsOptions) {
	const { store, rules, now = Date.now } = options;
	const jobs = new Jobs(options);
	const views = createJobViews(options, jobs);

	async function keepAndShow(guild: Guild, plan: Plan, shown: Shown = {}) {
		const hash = await keepPlan(store, plan, now());
		await nextTurn();
		const { cache, me } = guild.members;
		const text = planText(plan, {
			guildName: guildName(guild),
			hash,
			memberName: (id) => (cache.has(id) ? `@${cache.get(id)?.user.username}` : id),
			self: me ? { id: me.id, name: me.user.username } : undefined,
			...shown,
		});
		return { text, plan_hash: hash, steps: plan.steps.length, refusals: plan.refusals.length };
	}

	async function keepPlanOf(
		guild: Guild,
		source: PlanSource,
		{ prune, maxBytes, isWhole = false }: PlanOptions = {},
	): ReturnType<typeof keepAndShow> {
		const restore = "plan" in source && unchanged(await requirePlan(store, source.plan), source);
		if (restore) return keepAndShow(guild, await makePlan(guild, restore, rules), { maxBytes });
		const given = await givenDocument(options, guild, source);
		const { document, names } = accessOf(guild, given.document);
		const plan = await makePlan(guild, { document, prune: prune ?? given.prune ?? false }, rules);
		const issues = [...given.issues, ...(plan.issues ?? [])];
		if (issues.length > 0) {
			const kept = { ...plan, document: given.document, steps: [], issues };
			throw new ToolError(invalidText(issues, await keepPlan(store, kept, now())));
		}
		if (names.length > 0) plan.given = given.document;
		const earlier = isWhole ? undefined : given.earlier;
		const isUnchanged = earlier?.plan.prune === plan.prune && Bun.deepEquals(document, earlier?.plan.document);
		// An export of the same guild is a backup, too.
		const isRestored = "backup" in source || given.document.id === guild.id;
		const remarks = resultLines(
			isUnchanged && earlier && unchangedText(earlier.hash),
			remarksOn(plan, { removed: given.removed ?? [], names, isRestored }),
		);
		const permissionsOf = (id: string) => permissionNames(guild.roles.cache.get(id)?.permissions.bitfield ?? 0n);
		return keepAndShow(guild, plan, { maxBytes, remarks, earlier, ...(isRestored && { permissionsOf }) });
	}

	async function begin(hash: string, given?: string): Promise<{ jobId?: string; text: string }> {
		const plan = await requirePlan(store, hash);
		const guild = guildOf(options, plan.guildId);
		const running = await jobs.runningIn(guild.id);
		if (running?.plan_hash === hash) return { jobId: running.id, text: "This plan is being carried out." };
		if (running) throw alreadyRuns(guild, running.id);
		const current = await makePlan(guild, plan, rules);
		const issues = plan.issues ?? current.issues;
		if (issues) throw new ToolError(invalidText(issues));
		current.given = plan.given;
		// The steps that are still left may be fewer.
		const { text: planned, plan_hash: left } = await keepAndShow(guild, current);
		if (left !== hash && !isPartOf(current, plan))
			throw new ToolError(
				`The guild has changed since the plan ${hash} was made. Nothing was done. The plan is now:\n${planned}`,
			);
		if (current.steps.length === 0) return { text: planned };
		const job = await jobs.begin({ ...current, by: currentPerson()?.id }, left, reasonFor(plan, given));
		const text = left === hash ? started : leftText(hash, left, doneSince(current, plan));
		if (job) return { jobId: job.id, text };
		throw alreadyRuns(guild, (await jobs.runningIn(guild.id))?.id ?? "that has just ended");
	}

	return {
		/** `parts` default to all except messages, members and bans. */
		async export(guild: Guild, parts: readonly Part[] = partNames): Promise<ExportedGuild> {
			const wanted = parts === partNames ? parts.filter((part) => !optionalParts.includes(part)) : parts;
			const { state, unreadable } = await rules.read(guild, wanted);
			const unseen = unseenIn(state).filter(({ part }) => wanted.includes(part));
			return { document: exportDocument(state, wanted), missing: [...unreadable, ...unseen].map(missingText) };
		},
		backups: (guild: Guild) => options.backups.list(guild.id),
		async exportBackup(guild: Guild, name: string, mayTouch?: MayTouch): Promise<ExportedGuild> {
			const { document, omitted } = await options.backups.read(guild.id, name, mayTouch);
			const denied = rules.unreadable(partsOf(document));
			const allowed = { ...document };
			for (const { part } of denied) delete allowed[part];
			return { document: allowed, missing: resultLines(omitted, denied.map(missingText)) };
		},
		plan: async (guild: Guild, source: PlanSource, given?: PlanOptions) =>
			(await keepPlanOf(guild, source, given)).text,
		/** Those of the last day, the latest first. */
		plans: ({ id }: Guild) => selectGuildPlans(store.sql, id, shownPlans),
		/** Like `plan`, with hash and counts as fields. */
		keepPlan: keepPlanOf,
		guildOfPlan: async (hash: string, mayTouch?: MayTouch, by?: string) =>
			(await requirePlan(store, hash, mayTouch, by)).guildId,
		planRestore: async (guild: Guild, restore: Restore) =>
			(await keepAndShow(guild, await makePlan(guild, { ...emptyPlan, restore }, rules))).text,
		/** Which of these entries of the audit log, and calls of the bot's tools, jobs have undone. */
		undone: async (entries: readonly string[]): Promise<ReadonlySet<string>> =>
			// Without the database, that something was undone is only a remark that is missing.
			(await selectUndoneEntries(store.sql, entries).catch(ignoreUnavailable)) ?? new Set(),
		/** If the guild has changed since, rejects with the new plan. A call that waits and is cancelled cancels its job. */
		async apply(hash: string, reason?: string, waitMs = 0, call: Waiting = noCall) {
			const { jobId, text } = await begin(hash, reason);
			if (jobId === undefined) return text;
			const ended = waitMs > 0 && (await jobs.wait(jobId, waitMs, call));
			if (call.signal?.aborted && !ended) await jobs.cancel(jobId);
			const { text: shown, state } = await views.progress(jobId);
			noteItem(jobId, state === "done" ? "done" : state === "running" ? "unknown" : "not done");
			return ended && text === started ? shown : `${text}\n${shown}`;
		},
		/** Like `apply`, with the id of the job; undefined if the plan has no steps. */
		startJob: async (hash: string, reason?: string) => (await begin(hash, reason)).jobId,
		runningJob: async ({ id }: Guild) => (await jobs.runningIn(id))?.id,
		...views,
		attach: (client: Client) => jobs.attach(client),
		start: () => jobs.start(),
		rehearsals: new Rehearsals(options.backups),
		close: () => jobs.close(),
	};
}

const leftText = (hash: string, left: string, done: string) =>
	`A part of the plan ${hash} was done meanwhile${done}; what is left is ${left}.`;

const unchangedText = (hash: string) =>
	`This call changed nothing in the document of the plan ${hash}. changes adds and edits things; a part of it that is null, such as {"members": null}, is removed from the plan.`;

/** `names`: of channels in which the bot keeps its access. */
function remarksOn(
	plan: Plan,
	{ removed, names, isRestored }: { removed: readonly string[]; names: readonly string[]; isRestored: boolean },
): string[] {
	return resultLines(
		removed.length > 0 && `Removed from the plan: ${removed.join(", ")}.`,
		names.length > 0 &&
			`The bot keeps its own access: an overwrite for it was added to ${namesText(names)}. keep_bot_access: false in the document leaves it out.`,
		isRestored && plan.steps.some(({ action }) => action === "create") && lostForGood,
		plan.steps.some(({ action, kind }) => action === "delete" && kind === "channel") &&
			"The messages of deleted channels are lost.",
	);
}

const accessOf = (guild: Guild, document: GuildDocument) =>
	document.channels || document.categories ? withOwnAccess(guild, document) : { document, names: [] };

const missingText = ({ part, why }: Unreadable) => `${part}: ${why}`;

const emptyPlan = { document: readDocument({}), prune: false };

/** By its start undo_actions knows its own entries in the audit log. */
const reasonFor = ({ restore }: Plan, given: string | undefined) =>
	restore
		? ["undo_actions", given].filter(Boolean).join(": ")
		: (given?.replace(/^(?=undo_actions)/, "apply_guild: ") ?? "apply_guild");

/** Undefined unless the plan is of a restore. */
function unchanged(plan: Plan, source: PlanSource): Plan | undefined {
	if (!plan.restore) return undefined;
	if (!("changes" in source) || Object.keys(Object(source.changes)).length === 0) return plan;
	throw new ToolError("A plan of undo_actions cannot be changed: make one with other arguments.");
}

interface GivenDocument {
	document: GuildDocument;
	issues: readonly string[];
	prune?: boolean;
	earlier?: { hash: string; plan: Plan } | undefined;
	removed?: readonly Part[];
}

async function givenDocument(options: GuildDocumentsOptions, guild: Guild, source: PlanSource): Promise<GivenDocument> {
	if ("backup" in source) {
		const { document } = await options.backups.read(guild.id, source.backup, source.mayTouch);
		return { document, issues: [] };
	}
	if ("document" in source)
		return asFarAsValid(
			() => readDocument(source.document),
			(rest) => rest,
		);
	const plan = await requirePlan(options.store, source.plan);
	const before = plan.given ?? plan.document;
	const { document: read, issues } = asFarAsValid(
		() => readChanges(source.changes),
		(changes) => ({ changes, removed: [] }),
	);
	const merged = mergeDocuments(before, read.changes);
	for (const part of read.removed) delete merged[part];
	return {
		document: merged,
		issues,
		prune: plan.prune,
		earlier: plan.issues ? undefined : { hash: source.plan, plan },
		removed: read.removed.filter((part) => before[part] !== undefined),
	};
}

/** Of an invalid document what is valid of it, with its mistakes. Throws a ToolError if nothing is. */
function asFarAsValid<T>(read: () => T, of: (rest: GuildDocument) => T): { document: T; issues: readonly string[] } {
	try {
		return { document: read(), issues: [] };
	} catch (error) {
		if (!(error instanceof InvalidDocument)) throw error;
		if (error.rest) return { document: of(error.rest), issues: error.issues };
		throw new ToolError(invalidText(error.issues), { cause: error });
	}
}

function guildOf({ connection, mayTouch }: GuildDocumentsOptions, id: string): Guild {
	const guild = connection.discord.guilds.cache.get(id);
	if (!guild || !mayTouch(id))
		throw new ToolError(
			`The bot is not in the guild ${id}, or its operator has not enabled tools for it. Use list_guilds to find guilds.`,
		);
	return requireAvailable(guild);
}

export function requireAvailable(guild: Guild): Guild {
	if (guild.available) return guild;
	throw new ToolError(
		`The guild ${guild.id} is unavailable on Discord at the moment. Nothing was done; try again later.`,
	);
}

function createJobViews(
	{ connection, mayTouch, monotonicNow = () => performance.now() }: GuildDocumentsOptions,
	jobs: Jobs,
) {
	async function requireJob(id: string, isVisible = mayTouch) {
		const view = await jobs.find(id);
		if (!view || !mayTouch(view.job.row.guild_id) || !isVisible(view.job.row.guild_id))
			throw new ToolError(`There is no job ${JSON.stringify(id)}. A job is kept for 7 days after its end.`);
		return view;
	}

	function shown({ job, wait }: Awaited<ReturnType<typeof requireJob>>): string {
		const guild = connection.guilds.find(({ id }) => id === job.row.guild_id);
		const ms = wait ? wait.until - monotonicNow() : 0;
		return jobText(job, {
			guildName: guild ? guildName(guild) : `the guild ${job.row.guild_id}`,
			waiting: wait && { why: wait.why, seconds: Math.max(0, Math.ceil(ms / 1000)) },
		});
	}

	const showJob = async (id: string) => shown(await requireJob(id));

	async function latestJobs({ id }: Guild) {
		const ids = await jobs.idsOf(id, shownJobs);
		return Promise.all(ids.map(async (id) => ({ id, text: await showJob(id) })));
	}

	return {
		guildOfJob: async (id: string, isVisible?: MayTouch) => (await requireJob(id, isVisible)).job.row.guild_id,
		/** Like `job`, as fields. */
		async progress(id: string) {
			const view = await requireJob(id);
			const { plan, row, steps } = view.job;
			const all = [...steps.values()];
			return {
				text: shown(view),
				job_id: id,
				state: row.state,
				done: doneIn(view.job).length,
				/** Numbers of steps of the plan. */
				failed: all.filter(({ state }) => state === "failed").length,
				total: plan.steps.length,
				/** Why the job is paused, such as a rate limit. */
				waiting: view.wait?.why,
			};
		},
		job: showJob,
		latestJobs,
		wait: jobs.wait.bind(jobs),
		/** The latest. */
		async jobs(guild: Guild) {
			const latest = await latestJobs(guild);
			if (latest.length === 0) return `No job has run in ${guildName(guild)} in the last 7 days.`;
			return latest.map(({ text }) => text.split("\n", 1)).join("\n");
		},
		/** Completes the current change. */
		async cancel(id: string) {
			await requireJob(id);
			await jobs.cancel(id);
			return showJob(id);
		},
	};
}

function alreadyRuns(guild: Guild, id: string): ToolError {
	return new ToolError(
		`The job ${id} is already running in ${guildName(guild)}, and a guild can have only one running job. Nothing was done. Use get_job to see its progress, or cancel_job to end it.`,
	);
}
