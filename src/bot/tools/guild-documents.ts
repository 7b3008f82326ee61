// A guild as a document: exporting it, planning changes, carrying a plan out, and backups.

import type { Guild } from "discord.js";
import * as v from "valibot";
import { actingPerson } from "../../discord/acting-person.ts";
import { guildName, nowIs, roleName, time } from "../../discord/describe.ts";
import { botMember } from "../../discord/permissions.ts";
import { currentRun, timeLeftMs } from "../../discord/rest/rest.ts";
import { countOf, fieldLine, oneLine } from "../../discord/text.ts";
import { documentSchema } from "../../guild-document/format/document.ts";
import { formatText } from "../../guild-document/format/format-text.ts";
import { withUserMentions } from "../../guild-document/steps/message-steps.ts";
import { isObject } from "../../lib/json.ts";
import { runs } from "../../lib/program/program.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { reading } from "../../mcp/fan-out.ts";
import { publishedAs, toJsonSchema } from "../../mcp/json-schema.ts";
import { shownIn } from "../../mcp/resources.ts";
import { invalidParameters, type ToolCall } from "../../mcp/tool.ts";
import { render, said } from "../../texts/texts.ts";
import { asking } from "../results/result.ts";
import { allKeys } from "../settings/keys.ts";
import { expected, flag, guild_id, list, reason, text } from "../tool/arguments/arguments.ts";
import { namesIn, replaceNames, requireFewNames } from "../tool/arguments/names.ts";
import type { ToolContext } from "../tool/context.ts";
import { readTool } from "../tool/define.ts";
import { tool } from "../tool/pipeline.ts";
import { copied, copy_from, exported, narrowed, partsArgument } from "./guild-comparison.ts";

const maxDocumentBytes = 200_000;

/** For the end of a job: at most 15 s, and until 5 s before the call's deadline, so that it can still return a result. */
const waitMs = () => Math.min(timeLeftMs() - 5_000, 15_000);

/** A person needs ADMINISTRATOR for tools with guild documents, because these show and change everything in a guild. */
export const person = { permissions: [{ permission: "Administrator", inGuild: true }] } as const;

export const plan_hash = v.pipe(
	v.string(),
	v.regex(/^[0-9a-f]{32}$/, expected("the plan_hash of a plan")),
	v.description("Of a plan."),
);
const job_id = v.pipe(
	v.string(),
	v.regex(/^[0-9a-f]{12}$/, expected("the job id of apply_guild")),
	v.description("From apply_guild."),
);
const backup = v.optional(text(1, 100, "A backup's name, or latest."));

export const documentOf = (description: string) =>
	v.optional(
		v.pipe(
			v.union([v.record(v.string(), v.unknown()), v.string()]),
			publishedAs<Record<string, unknown> | string>({ type: "object", additionalProperties: true, description }),
		),
	);

export const exportGuild = readTool({
	name: "export_guild",
	toolset: "guild_document",
	person,
	title: "Export a guild",
	description:
		"The guild's structure as a JSON document: settings, roles, channels with access, AutoMod, events, emoji, webhooks, onboarding, the bot's own settings; on request messages that documents posted (not other pins). plan_guild takes it.",
	input: {
		guild_id,
		parts: partsArgument(
			"Such as roles, channels, categories. Default: all but messages, members (their roles) and bans.",
		),
		categories: v.optional(
			list(text(1, 220, "A category."), 1, 50, "Only these categories, with the roles of their access."),
		),
		roles: v.optional(list(text(1, 220, "A role."), 1, 250, "Only these roles.")),
		backup,
		format: flag("Describe the format instead: an overview, or parts in full.", false),
	},
	async run({ backup, format, guild_id: _, ...narrowing }, { guild, guildDocuments, mayTouch }) {
		if (format) {
			const keys = narrowing.parts?.includes("bot") ? allKeys : [];
			return [...formatText(narrowing.parts), ...keys.map((key) => ` ${key}: ${render(said(`setting.${key}`), "en")}`)];
		}
		const { document, missing } =
			backup === undefined
				? await exported(guild, narrowing, guildDocuments)
				: await guildDocuments.exportBackup(guild, backup, mayTouch).then((found) => narrowed(found, narrowing));
		const json = JSON.stringify(document);
		if (Buffer.byteLength(json) > maxDocumentBytes)
			throw new ToolError(
				`The document has ${Buffer.byteLength(json)} bytes, more than ${maxDocumentBytes}. Export some of its parts, or use the command line: ${runs("bot")} --export-guild FILE.`,
			);
		return [...missing.map((line) => `Missing: ${line}`), json];
	},
});

const planned = reading(
	{ argument: "copy_from", tool: exportGuild.name },
	readTool({
		name: "plan_guild",
		toolset: "guild_document",
		offered: "listed",
		person,
		title: "Plan from a document",
		description:
			"What would change to match a document or backup, and what cannot; apply_guild does it. To build or change many roles and channels with messages, or restore.",
		input: {
			guild_id,
			document: documentOf(
				'Partial or whole: {"roles":[{"name":"Mods","color":"#FF0000","hoist":true,"permissions":["KICK_MEMBERS"]}],"categories":[{"name":"Staff","overwrites":[{"role":"@everyone","deny":["VIEW_CHANNEL"]},{"role":"Mods","allow":["VIEW_CHANNEL"]}],"channels":[{"name":"mod-chat","topic":"…","messages":[{"key":"intro","content":"Ask @Mods","pin":true}]},{"name":"Voice","kind":"voice","user_limit":9}]}]}. Forums have posts; messages also embeds, mentions, poll, role_menu. Also members ({"id":"@ada","roles":["Mods"]}: added), events, automod, welcome_screen. In order: list an existing one first to place others below it; to move a channel, give its id. Channels take their category\'s overwrites. All fields: export_guild with format.',
			),
			backup,
			plan_hash: v.optional(plan_hash),
			changes: documentOf("Partial document for plan_hash or copy_from, merged by name; null removes a part."),
			copy_from,
			prune: flag("Delete what its parts do not list."),
		},
		async run(args, context) {
			const { guild, guildDocuments, mayTouch } = context;
			const { copy_from, prune, plan_hash } = args;
			if (plan_hash) requireOwn(guild.id, await guildDocuments.guildOfPlan(plan_hash, mayTouch));
			const [document, changes] = await Promise.all(
				[args.document, args.changes].map((one) => withUserIds(one, guild, context.connection)),
			);
			const source = sourceOf({ ...args, document, changes }, mayTouch);
			const isWhole = plan_hash !== undefined && changes === undefined;
			if (!copy_from) return guildDocuments.plan(guild, source, { prune, isWhole });
			const copy = await copied(copy_from, changes, guild, context);
			return [
				...copy.missing.map((line) => `Not copied: ${line}`),
				await guildDocuments.plan(guild, { document: copy.document }, { prune }),
			];
		},
	}),
);

export const planPageUri = "ui://plan";

/** Clients that can show its plans as a page, too. */
export const planGuild = shownIn(planPageUri, planned);

const namedIn = toJsonSchema(documentSchema);

/** With ids instead of "@username", which documents have for members, bans and overwrites, and mentions in messages. */
export async function withUserIds(
	document: unknown,
	guild: Guild,
	connection: ToolContext["connection"],
): Promise<unknown> {
	// Before all members of a large guild are gone through.
	if (!isObject(document) || !JSON.stringify(document).includes("@")) return document;
	const users = guild.members.cache.map(({ user }) => user);
	const mentioning = withUserMentions(document, users, guild.roles.cache.values());
	const names = namesIn(namedIn, mentioning);
	if (names.length === 0) return mentioning;
	requireFewNames(names);
	return replaceNames({ schema: namedIn, args: mentioning, names, reads: false }, guild, connection);
}

type Sources = { [Name in "document" | "changes" | "copy_from"]?: unknown } & {
	[Name in "backup" | "plan_hash"]?: string | undefined;
};

function sourceOf({ document, backup, plan_hash, changes, copy_from }: Sources, mayTouch: ToolContext["mayTouch"]) {
	if ([document, backup, plan_hash, copy_from].filter((value) => value !== undefined).length !== 1)
		throw invalidParameters(["document, backup, plan_hash, copy_from: expected exactly one of these"]);
	if (plan_hash === undefined && copy_from === undefined && changes !== undefined)
		throw invalidParameters(["changes: expected only together with plan_hash or copy_from"]);
	if (backup !== undefined) return { backup, mayTouch };
	if (plan_hash !== undefined) return { plan: plan_hash, changes: changes ?? {} };
	return { document };
}

export const applyGuild = tool(
	{ effect: "destructive", idempotent: true },
	{
		name: "apply_guild",
		toolset: "guild_document",
		offered: "listed",
		person,
		title: "Carry out a plan",
		description:
			"Carry out exactly what a plan shows, as a background job. If the guild has changed, shows a new plan. Waits up to 15 s.",
		input: { guild_id, plan_hash, reason },
		plan: ({ plan_hash, reason }, context) => planToCarryOut(plan_hash, reason, "apply_guild", context),
	},
);

type PlanContext = Pick<ToolContext, "guildDocuments" | "mayTouch" | "principal"> & { guild: Guild };

/** As a job. Throws a ToolError if the person could not do by hand what it does. */
export async function planToCarryOut(
	hash: string,
	reason: string | undefined,
	by: "apply_guild" | "undo_actions",
	context: PlanContext,
) {
	const { guild, guildDocuments, mayTouch, principal } = context;
	requireRankOfBot(guild);
	requireOwn(guild.id, await guildDocuments.guildOfPlan(hash, mayTouch, by));
	return {
		preview: async () =>
			asking(
				await guildDocuments.plan(guild, { plan: hash, changes: {} }, { maxBytes: maxDocumentBytes, isWhole: true }),
				said(`preview.${by}`),
			),
		basis: planBasis,
		act: (call: ToolCall) =>
			// The reason of the call says who makes it.
			guildDocuments.apply(hash, principal ? currentRun()?.reason : reason, waitMs(), call),
	};
}

/** The rest of a plan depends on the time of the call, such as how long it takes. */
export const planBasis = (shown: readonly string[]) => /^plan_hash=[0-9a-f]+$/m.exec(String(shown))?.[0] ?? shown;

export const getJob = readTool({
	name: "get_job",
	toolset: "guild_document",
	person,
	title: "Get a job",
	description: "Progress of a job, and what failed; without job_id the latest jobs.",
	input: { guild_id, job_id: v.optional(job_id), wait: flag("For its end, up to 15 s.", false) },
	async run({ job_id, wait }, { guild, guildDocuments, mayTouch }, call) {
		if (job_id === undefined) return guildDocuments.jobs(guild);
		requireOwn(guild.id, await guildDocuments.guildOfJob(job_id, mayTouch));
		if (wait) await guildDocuments.wait(job_id, waitMs(), call);
		return guildDocuments.job(job_id);
	},
});

export const cancelJob = tool(
	{ effect: "write", idempotent: true },
	{
		name: "cancel_job",
		toolset: "guild_document",
		person,
		title: "Cancel a job",
		description: "End a job after its running step. What was done stays.",
		input: { guild_id, job_id },
		async plan({ job_id }, { guild, guildDocuments, mayTouch }) {
			requireOwn(guild.id, await guildDocuments.guildOfJob(job_id, mayTouch));
			return {
				preview: async () => asking(await guildDocuments.job(job_id), said("preview.cancel_job", { id: job_id })),
				basis: job_id,
				act: () => guildDocuments.cancel(job_id),
			};
		},
	},
);

export const listBackups = readTool({
	name: "list_backups",
	toolset: "guild_document",
	person,
	title: "List backups",
	description: "List the guild's backups, newest first. plan_guild takes one, to restore it.",
	input: { guild_id },
	async run(_, { guild, guildDocuments }) {
		const backups = await guildDocuments.backups(guild);
		if (backups.length === 0)
			return `There is no backup of ${guildName(guild)}. The section [backup] of config.toml sets when the bot makes them.`;
		return [
			`${backups.length} backup(s) of ${guildName(guild)}, the newest first, times in UTC, ${nowIs()}:`,
			...backups.map(({ name, madeAt, channels, roles, omitted, kept, provenAt }) =>
				fieldLine(
					`backup ${name}`,
					time(madeAt),
					countOf(channels, "channel"),
					countOf(roles, "role"),
					omitted && `without ${oneLine(omitted)}`,
					provenAt && `proven by a rehearsal ${time(provenAt)}`,
					kept && `kept since ${time(kept.at)}: ${oneLine(kept.reason)}`,
				),
			),
		];
	},
});

function requireRankOfBot(guild: Guild): void {
	const person = actingPerson(guild);
	if (!person || person.id === guild.ownerId) return;
	const { highest } = botMember(guild).roles;
	if (highest.comparePositionTo(person.roles.highest) <= 0) return;
	throw new ToolError(
		`You rank below ${roleName(highest)}, the highest role of the bot, so a plan could change roles and members that you could not change by hand. Nothing was done.`,
	);
}

function requireOwn(guildId: string, other: string): void {
	if (guildId === other) return;
	throw new ToolError(
		`The plan or job is for the guild ${other}, not for ${guildId}. Pass guild_id=${other}. Nothing was done.`,
	);
}
