// Plans: what would change in a guild so that it matches a document. A plan is kept under the hash of its content, so that
// what was shown is what is done.

import { type Guild, PermissionFlagsBits as Permission } from "discord.js";
import { forClients } from "../../../discord/acting-person.ts";
import { botMember } from "../../../discord/permissions.ts";
import { countOf } from "../../../discord/text.ts";
import {
	type Category,
	type Channel,
	type GuildDocument,
	InvalidDocument,
	type Part,
	partNames,
} from "../../../guild-document/format/document.ts";
import { mapDocument } from "../../../guild-document/format/fields.ts";
import { isPlaceholder } from "../../../guild-document/match/match.ts";
import { withOverwrites } from "../../../guild-document/names/overwrites.ts";
import { permissionNames } from "../../../guild-document/read/from-api.ts";
import type { Restore } from "../../../guild-document/restore.ts";
import type { DifferenceOptions } from "../../../guild-document/steps/step-list.ts";
import { rawOverwrites } from "../../../guild-document/steps/to-api.ts";
import type { GuildState, Refusal, Step } from "../../../guild-document/steps.ts";
import { listFirst } from "../../../lib/text.ts";
import { ToolError } from "../../../lib/tool-error.ts";
import type { Store } from "../../store/store.ts";
import { guildPlanRows, maxGuildPlans, saveGuildPlan } from "../../store/tables/guild-jobs.ts";
import type { Rules } from "./rules.ts";

/** Plain data, which can be shown and stored. */
export type PlannedStep = Omit<Step, "guard" | "note" | "request">;

interface PlanRefusal extends Refusal {
	/** The bot could not read a part of the guild. */
	isUnread?: boolean;
}

export interface Plan {
	guildId: string;
	document: GuildDocument;
	/** As given, if overwrites were added that keep the bot's own access. */
	given?: GuildDocument | undefined;
	/** Instead of a document, which is empty then. */
	restore?: Restore | undefined;
	/** Delete what the document does not list. */
	prune: boolean;
	/** In the order of execution, without the impossible ones. */
	steps: readonly PlannedStep[];
	refusals: readonly PlanRefusal[];
	/** Warnings about steps. */
	notes: readonly Refusal[];
	/** Id of the person who began its job. */
	by?: string | undefined;
	/** A line of text. */
	duration: string;
	/** Of an invalid document, which is kept so that changes can correct it: its mistakes. Such a plan has no steps. */
	issues?: readonly string[];
}

const maxSteps = 20_000;

/** Of a restore; the rest is always read. */
const restoredParts: readonly Part[] = ["automod", "events", "webhooks", "bans"];

export function partsOf(document: GuildDocument, { items = [] }: Partial<Restore> = {}): Part[] {
	const isRestored = (part: Part) => restoredParts.includes(part) && items.some(({ kind }) => part.startsWith(kind));
	return partNames.filter((part) => document[part] !== undefined || isRestored(part));
}

/** Without steps if references are invalid or ambiguous: `issues` has them. */
export async function makePlan(
	guild: Guild,
	{ document, prune, restore }: Pick<Plan, "document" | "prune" | "restore">,
	rules: Rules,
): Promise<Plan> {
	const { state, unreadable } = await rules.read(guild, partsOf(document, restore), document, restore);
	const options: DifferenceOptions = {
		prune,
		restore,
		fixedRoles: fixedRoles(guild, state),
		rolesOf: (id) => guild.members.cache.get(id)?.roles.cache.map(({ id }) => id),
	};
	const difference = await attempt(() => rules.difference(document, state, options));
	const guildId = guild.id;
	if (difference instanceof InvalidDocument) {
		const { issues } = difference;
		return { guildId, document, prune, steps: [], refusals: [], notes: [], duration: "", issues };
	}
	const { steps, refusals, notes = [], kept } = difference;
	const found = await rules.refusals(steps, guild, state);
	const isNote = ({ stepId }: Refusal) => stepId === undefined;
	const all: PlanRefusal[] = [
		...unreadable.map(({ part, why }) => ({ subject: part, reason: why, isUnread: true })),
		...refusals,
		...found.filter((one) => !isNote(one)),
	];
	const possible = withoutRefused(steps, all);
	if (possible.steps.length > maxSteps)
		throw new ToolError(
			`The plan has ${possible.steps.length} steps, more than the ${maxSteps} that one job may have. Nothing was done. Leave parts out of the document, such as members or bans, or plan them one after the other.`,
		);
	const refused = new Set([...new Set(steps).difference(new Set(possible.steps))].flatMap(({ undoes = [] }) => undoes));
	const isUndone = (id: string) => !kept?.has(id) && !refused.has(id);
	return {
		guildId,
		document,
		...(restore && { restore }),
		prune,
		steps: possible.steps.map((step) => toPlanned({ ...step, undoes: step.undoes?.filter(isUndone) })),
		refusals: [...all, ...possible.refusals],
		notes: [...found.filter(isNote), ...notes],
		duration: durationText(possible.steps),
	};
}

/** The bot's highest role and those above it, which it cannot move. */
export function fixedRoles(guild: Guild, { guild: { roles } }: GuildState) {
	const { client, ownerId, members } = guild;
	if (ownerId === client.user.id) return new Set<string>();
	const own = members.me?.roles.cache;
	const top = Math.max(0, ...roles.filter(({ id }) => own?.has(id)).map(({ position }) => position));
	return new Set(roles.filter(({ position }) => position >= top).map(({ id }) => id));
}

/** The difference of a document, or why it is invalid. */
export async function attempt<T>(work: () => T | Promise<T>): Promise<T | InvalidDocument> {
	try {
		return await work();
	} catch (error) {
		if (error instanceof InvalidDocument) return error;
		throw error;
	}
}

const shownIssues = 20;

/** One per line, shortened to the first ones. `hash`: of the plan that keeps what is valid of the document. */
export function invalidText(issues: readonly string[], hash?: string): string {
	const text = `The given guild document (a description of a guild's settings, channels and roles) is invalid, for these reasons. Nothing was done.\n${listFirst(issues, shownIssues, "\n… and ", "\n")}`;
	if (hash === undefined) return text;
	return `${text}${forClients(`\nplan_hash=${hash}\nKept without the fields that are wrong by themselves: plan_guild with this plan_hash and changes corrects it. apply_guild refuses it.`)}`;
}

/** Also without steps that need what a refused one would have created, each with a new refusal. */
function withoutRefused(steps: readonly Step[], refusals: readonly Refusal[]): { steps: Step[]; refusals: Refusal[] } {
	const refused = new Set(refusals.map(({ stepId }) => stepId));
	const missing = new Map<string, string>();
	const left: Step[] = [];
	const more: Refusal[] = [];
	const created = new Set<string>();
	for (const step of steps) {
		const needed = step.needs.find((placeholder) => missing.has(placeholder));
		if (!refused.has(step.id) && needed === undefined) {
			if (isEmptyOrder(step, created)) continue;
			if (step.placeholder !== undefined) created.add(step.placeholder);
			left.push(step);
			continue;
		}
		if (step.placeholder !== undefined) missing.set(step.placeholder, `${step.kind} ${step.name}`);
		if (needed !== undefined && !refused.has(step.id))
			more.push({
				subject: step.kind === "member" ? `role ${step.name}` : `${step.action} ${step.kind} ${step.name}`,
				reason: `it needs ${missing.get(needed)}, which cannot be created`,
				stepId: step.id,
			});
	}
	return { steps: left, refusals: more };
}

export const isRole = (kind: string) => kind === "role";

/** Only reorders new things, none of which are in `created` (placeholders). */
export function isEmptyOrder(
	{ action, guard: { moves = [] } }: Pick<Step, "action" | "guard">,
	created: { has(placeholder: string): boolean },
): boolean {
	return action === "order" && moves.every((one) => isPlaceholder(one) && !created.has(one));
}

const toPlanned = ({ guard: _, note: __, request: ___, ...planned }: Step): PlannedStep => planned;

/** 32 hexadecimal digits of the content. */
export function hashOf({ guildId, document, restore, prune, steps, refusals, notes, issues }: Plan): string {
	const content = [
		guildId,
		prune,
		steps.map((step) => [
			step.id,
			step.action,
			step.kind,
			step.name,
			step.targetId,
			step.changes.map(({ field, before, after }) => [field, before, after]),
		]),
		// What can be read meanwhile, such as pictures that have loaded, changes a plan only if it changes the steps.
		[...refusals.filter(({ isUnread }) => !isUnread), ...notes].map((one) => [one.subject, one.reason, one.stepId]),
		document,
		...(issues ? [issues] : []),
		...(restore ? [restore.items] : []),
	];
	return Bun.SHA256.hash(JSON.stringify(content), "hex").slice(0, 32);
}

/** For up to a day; returns the hash. `now` in epoch milliseconds. */
export async function keepPlan({ sql }: Pick<Store, "sql">, plan: Plan, now: number): Promise<string> {
	const hash = hashOf(plan);
	await saveGuildPlan(sql, { hash, guild_id: plan.guildId, made_at: now, content: JSON.stringify(plan) });
	return hash;
}

/** Throws the same ToolError if there is none, and if the caller may not know of its guild. `by`: the tool to carry it out. */
export async function requirePlan(
	{ sql }: Pick<Store, "sql">,
	hash: string,
	mayTouch = (_guildId: string) => true,
	by?: string,
): Promise<Plan> {
	const row = await guildPlanRows.first(sql, { hash });
	if (!row || !mayTouch(row.guild_id))
		throw new ToolError(
			`There is no plan ${JSON.stringify(hash)}. Plans are kept for a day, and of each guild the latest ${maxGuildPlans}. Use plan_guild or undo_actions to make one.`,
		);
	const plan = JSON.parse(row.content) as Plan;
	const own = plan.restore ? "undo_actions" : "apply_guild";
	if (by !== undefined && by !== own)
		throw new ToolError(`${by} does not carry out this plan. Use ${own} with this plan_hash. Nothing was done.`);
	return plan;
}

const needed = Permission.ViewChannel | Permission.ManageChannels | Permission.Connect;
/** For channels with messages. */
const writing =
	Permission.SendMessages | Permission.ReadMessageHistory | Permission.EmbedLinks | Permission.PinMessages;

/**
 * Also the names of what was changed: channels that a document hides from the bot, because people who write one by hand
 * think of people. Exported documents stay, because they state exactly the guild's overwrites.
 */
export function withOwnAccess(guild: Guild, document: GuildDocument): { document: GuildDocument; names: string[] } {
	const me = botMember(guild);
	const inGuild = me.permissions.bitfield;
	const guildId = guild.id;
	const own = me.roles.cache.filter(({ id }) => id !== guildId);
	// A document has the names of roles in place of ids.
	const roleIds = new Set(own.map(({ name }) => name));
	const holder = { guildId, roleIds, memberId: me.id };
	const names: string[] = [];
	const isExact =
		document.omitted === "default" || document.keep_bot_access === false || (inGuild & Permission.Administrator) !== 0n;
	if (isExact) return { document, names };
	const written = new Set(document.messages?.map(({ channel }) => channel));
	const isWritten = (place: Channel & Category): boolean =>
		written.has(place.key ?? place.name) || (place.channels ?? []).some((one) => !one.overwrites && isWritten(one));
	const keep = <Place extends Channel | Category>(place: Place): Place => {
		const { overwrites } = place;
		if (!overwrites) return place;
		const raw = new Map(rawOverwrites(overwrites, guildId).map((one) => [one.id, one]));
		const wanted = isWritten(place as Channel & Category) ? needed | writing : needed;
		const lost = wanted & inGuild & ~withOverwrites(inGuild, holder, raw);
		if (lost === 0n) return place;
		names.push(place.name);
		const { allow = 0n, deny = 0n } = raw.get(me.id) ?? {};
		const own = { member: me.id, allow: permissionNames(allow | lost), deny: permissionNames(deny & ~lost) };
		return { ...place, overwrites: [...overwrites.filter(({ member }) => member !== me.id), own] };
	};
	return { document: mapDocument(document, { channels: keep, categories: keep }), names };
}

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

interface Limit {
	/** For people: "250 new roles in 50 hours". */
	text: string;
	max: number;
	seconds: number;
	keyOf(step: Step): string | undefined;
}

const creating =
	(...kinds: readonly Step["kind"][]) =>
	({ action, kind }: Step) =>
		action === "create" && kinds.includes(kind) ? "" : undefined;

/** Observed by developers of bots, not documented by Discord. */
const limits: readonly Limit[] = [
	{
		// Responses have X-RateLimit-Limit 250 and resets more than a day away: https://github.com/discord-net/Discord.Net/issues/1451
		// A table of headers collected on 2020-05-07 has 250 per 180,000 s. "250 roles per 2 days":
		// https://github.com/discord/discord-api-docs/issues/1480; also https://github.com/discordjs/discord.js/issues/4019,
		// https://github.com/discord/discord-api-docs/issues/5044 and https://github.com/Rapptz/discord.py/issues/5840
		text: "250 new roles in 50 hours",
		max: 250,
		seconds: 50 * hour,
		keyOf: creating("role"),
	},
	{
		// Announced to developers of bots for 2022-08-16, and not documented:
		// https://n3tc0rd.digitalpress.blog/new-discord-channel-creation-ratelimit/
		text: "500 new channels in a day",
		max: 500,
		seconds: day,
		keyOf: creating("channel", "category"),
	},
	{
		// Documented is only that there is a limit per guild: https://docs.discord.com/developers/resources/emoji
		// 50 per hour: https://github.com/remoji-bot/remoji-bot/issues/9; it stops after 50:
		// https://github.com/Jisagi/Discord-guild-copy/issues/48 and https://github.com/Pycord-Development/pycord/issues/1832;
		// waits of up to 3600 s: https://github.com/discord/discord-api-docs/issues/2250
		text: "50 new emoji in an hour",
		max: 50,
		seconds: hour,
		keyOf: creating("emoji"),
	},
	{
		// https://github.com/discord/discord-api-docs/issues/2190 and https://github.com/discord-jda/JDA/issues/1306
		text: "2 new names or topics of a channel in 10 minutes",
		max: 2,
		seconds: 10 * minute,
		keyOf: ({ action, kind, targetId, guard }) =>
			action === "edit" &&
			(kind === "channel" || kind === "category") &&
			guard.fields?.some((field) => field === "name" || field === "topic")
				? targetId
				: undefined,
	},
	{
		// The same table of headers, and https://github.com/discordjs/discord.js/issues/2618
		text: "10 changes of members' roles in 10 seconds",
		max: 10,
		seconds: 10,
		keyOf: ({ kind }) => (kind === "member" ? "" : undefined),
	},
];

/** As if no request was counted yet. `waits`: what makes it longer than a request per second, which few take. */
export function estimate(steps: readonly Step[]): { seconds: number; waits: string[] } {
	const all = limits.map(({ text, max, seconds, keyOf }) => {
		const { undefined: _, ...counted } = Object.groupBy(steps, (step) => String(keyOf(step)));
		const count = Math.max(0, ...Object.values(counted).map((group = []) => group.length));
		const windows = Math.max(0, Math.ceil(count / max) - 1);
		return { text, seconds: windows * seconds + count - windows * max };
	});
	const longest = Math.max(steps.length, ...all.map(({ seconds }) => seconds));
	return { seconds: longest, waits: all.flatMap(({ text, seconds }) => (seconds > steps.length ? text : [])) };
}

export function durationText(steps: readonly Step[]): string {
	const { seconds, waits } = estimate(steps);
	const why =
		waits.length > 0
			? `because Discord allows ${waits.join(", and ")} (observed, not documented)`
			: "sent as fast as Discord's rate limits allow";
	const time = `${waits.length > 0 ? "about" : "up to"} ${roughTime(seconds)}`;
	return `Estimated time: ${time} for ${countOf(steps.length, "step")}, ${why}.`;
}

function roughTime(seconds: number): string {
	if (seconds < 2 * minute) return `${seconds} s`;
	const [size, name] = seconds < 2 * hour ? [minute, "minutes"] : seconds < 2 * day ? [hour, "hours"] : [day, "days"];
	return `${Math.ceil(seconds / Number(size))} ${name}`;
}
