// The tools warn_member, note_member, list_cases and edit_case, and the commands that call them. For import_cases see
// import-cases.ts.

import { type Guild, PermissionFlagsBits, RESTJSONErrorCodes } from "discord.js";
import * as v from "valibot";
import { actingPerson, isForPeople } from "../../../discord/acting-person.ts";
import { memberName, nowIs, userName } from "../../../discord/describe.ts";
import { absentIf } from "../../../discord/find.ts";
import { describeBits, personHas } from "../../../discord/permissions.ts";
import { requireMembersBelow } from "../../../discord/role-hierarchy.ts";
import { joinLines, maxReasonLength, truncate } from "../../../discord/text.ts";
import { invalidParameters } from "../../../mcp/tool.ts";
import { SaidError } from "../../../texts/said-error.ts";
import { languageOf, render, type Said, said, sayIn } from "../../../texts/texts.ts";
import type { Action, ActionOption, Suggestion, SuggestQuery } from "../../commands/action.ts";
import { messageReference } from "../../messages/sent-message.ts";
import { written } from "../../results/people-text.ts";
import { mentions, type Part, parts, result } from "../../results/result.ts";
import {
	expected,
	flag,
	found,
	guild_id,
	integer,
	limit,
	list,
	moment,
	oneOrMore,
	snowflake,
	tell,
	text,
} from "../../tool/arguments/arguments.ts";
import { type CaseDraft, caseActions, completed } from "../../tool/case-record.ts";
import type { BotTool, ToolContext } from "../../tool/context.ts";
import { editTool, readTool, writeTool } from "../../tool/define.ts";
import { type MaybeMember, memberOrAbsent, membersAmong } from "../../tools/members/several-members.ts";
import type { Case } from "./case.ts";
import { caseDetails, caseLine, moderatorLines, saidCase, saidReason, saidSummary, summaryOf } from "./case-text.ts";
import type { Cases } from "./cases.ts";
import { type CaseToolOptions, importCases } from "./import-cases.ts";

const maxPeople = 20;
const maxNumber = 1_000_000_000;
const maxEdits = 20;
/** Cases on a page that fits a phone. */
const shownToPeople = 10;

const person = { permissions: [{ permission: "ModerateMembers", inGuild: true }] } as const;

const user_ids = list(found(memberOrAbsent, "user"), 1, maxPeople, "Users.");
const number = integer(1, maxNumber, "Number of the case.");

const messageId = v.pipe(
	v.string(),
	v.regex(messageReference, expected("an id of 17 to 20 digits, or a link")),
	v.transform((text) => text.slice(text.lastIndexOf("/") + 1)),
);

export function createCaseTools(options: CaseToolOptions): BotTool[] {
	return [warnMember(options), noteMember(options), listCases(options), editCase(options), importCases(options)];
}

function warnMember({ cases, settings }: CaseToolOptions) {
	return writeTool({
		name: "warn_member",
		toolset: "moderation",
		title: "Warn members",
		description: "Warn members: recorded as a case, and told by DM.",
		person: { ...person, may: "warn" },
		input: {
			guild_id,
			user_ids,
			reason: text(1, maxReasonLength, "What they did; they are told."),
			message_ids: v.optional(list(messageId, 1, 100, "Messages that it is about: ids or links.")),
			tell,
		},
		async destructive(_, { guild, users }) {
			const all = settings.of(guild.id)["moderation.escalate"];
			const rules = all.filter(({ actions }) => actions.includes("warn"));
			for (const { id } of rules.length > 0 ? users : []) {
				const counts = await cases.countOf(guild.id, id);
				const { count: earlier = 0 } = counts.find(({ action }) => action === "warn") ?? {};
				// Warnings before the rule's time count here, too.
				const rule = rules.find(({ count }) => earlier + 1 >= count);
				if (rule) return `may set off the rule "${rule.text}"`;
			}
			return undefined;
		},
		async run(args, context) {
			const { guild, users } = context;
			const { members, absent } = membersAmong(guild, users);
			requireBelow(guild, members);
			const draft: CaseDraft = {
				action: "warn",
				userIds: members.map(({ id }) => id),
				...(args.message_ids && { messageIds: args.message_ids }),
			};
			const lines = await record(cases, draft, args, context);
			const warned = said("result.warn", { who: mentions(members) });
			return parts(result(`Warned ${members.map(memberName).join(", ")}.`, warned), absent, lines);
		},
	});
}

function noteMember({ cases }: CaseToolOptions) {
	return writeTool({
		name: "note_member",
		toolset: "moderation",
		title: "Note about users",
		description: "Record a note about users, for moderators only.",
		person: { ...person, may: "warn" },
		input: { guild_id, user_ids, note: text(1, maxReasonLength, "The note.") },
		async run({ note }, context) {
			const { guild, users } = context;
			const names = [];
			for (const user of users) names.push(await nameOf(guild, user));
			requireBelow(
				guild,
				users.flatMap(({ member }) => member ?? []),
			);
			const userIds = users.map(({ id }) => id);
			const draft: CaseDraft = { action: "note", userIds };
			const lines = await record(cases, draft, { reason: note, tell: false }, context);
			return parts(result(`Noted about ${names.join(", ")}.`, said("result.note", { who: mentions(users) })), lines);
		},
	});
}

function requireBelow(guild: Guild, members: Parameters<typeof requireMembersBelow>[1]): void {
	const acting = actingPerson(guild);
	if (acting) requireMembersBelow(guild, members, [acting]);
}

async function record(
	cases: Cases,
	draft: CaseDraft,
	{ reason, tell }: { reason: string; tell?: boolean | undefined },
	context: ToolContext & { guild: Guild },
): Promise<readonly Part[]> {
	const { guild, principal, approvedBy } = context;
	const whole = completed(draft, context.draft) ?? draft;
	const open = await cases.open({ guild, draft: whole, reason, tell, principal, approvedBy }, true);
	return open.settle({ outcomes: new Map(), rest: "done" });
}

async function nameOf(guild: Guild, { id, member }: MaybeMember) {
	if (member) return memberName(member);
	const user = await absentIf([RESTJSONErrorCodes.UnknownUser], () => guild.client.users.fetch(id));
	if (user) return userName(user);
	throw new SaidError(said("refusal.nothing_done", { why: said("refusal.no_such_user", { who: mentions([id]) }) }), {
		models: `Discord has no user ${id}. Check user_ids. Nothing was done.`,
	});
}

function listCases({ cases }: CaseToolOptions) {
	return readTool({
		name: "list_cases",
		toolset: "moderation",
		title: "List cases",
		description:
			"List what moderators did (warnings, bans, …), newest first; with `since`, also how many of which kind each moderator has; or one case with its history.",
		person: { ...person, may: "cases" },
		input: {
			guild_id,
			number: v.optional(number),
			user_ids: v.optional(oneOrMore(snowflake("person"), maxPeople, "People concerned.")),
			moderator_ids: v.optional(oneOrMore(snowflake("moderator"), maxPeople, "Moderators.")),
			action: v.optional(v.pipe(v.picklist(caseActions), v.description("Of this kind."))),
			since: v.optional(moment("Only since this", true)),
			until: v.optional(moment("Only before this")),
			before: v.optional(integer(1, maxNumber, "Previous page's last case.")),
			limit: limit(100, 20),
		},
		async run(args, { guild }) {
			if (args.number !== undefined) {
				const one = await find(cases, guild, args.number);
				return caseDetails(guild, one, await cases.edits(guild.id, one.number, maxEdits));
			}
			const { user_ids, moderator_ids, action, since, until } = args;
			const user_id = user_ids?.length === 1 ? user_ids[0] : undefined;
			const limit = isForPeople() ? Math.min(args.limit, shownToPeople) : args.limit;
			const before = args.before === undefined ? undefined : await find(cases, guild, args.before);
			const filter = { userIds: user_ids, moderatorIds: moderator_ids, action, from: since?.atMs, until: until?.atMs };
			const found = await cases.list(guild.id, filter, {
				limit: limit + 1,
				before: before && { created_at: before.createdAt, number: before.number },
			});
			const page = found.slice(0, limit);
			const counts = user_id ? await cases.countOf(guild.id, user_id) : undefined;
			// Counts over all cases of a guild would take too long.
			const byModerator = since && !user_ids && !before ? await cases.countByModerator(guild.id, filter) : [];
			const last = page.at(-1);
			if (!last)
				return result(
					[`No ${before ? "further " : ""}case matches; ${nowIs()}.`, counts && summaryOf(counts)],
					said("result.no_cases"),
					counts && saidSummary(counts),
				);
			const next = found.length > limit ? last.number : undefined;
			const { members, client } = guild;
			const name = user_id && (members.cache.get(user_id) ?? client.users.cache.get(user_id))?.displayName;
			const pages = {
				// Discord shows no mentions in titles.
				title: name ? said("result.cases_of.title", { person: written(name) }) : said("result.cases.title"),
				back: isForPeople() && before ? await cases.startOfPage(guild.id, filter, before, limit) : undefined,
				next,
				more: next === undefined ? next : said("result.older_cases", { number: String(next) }),
			};
			return parts(
				result(
					[`${page.length} case(s), newest first; ${nowIs()}:`, counts && summaryOf(counts)],
					counts && saidSummary(counts),
				),
				byModerator.length > 0 && [
					"By moderator, without what was not done:",
					...moderatorLines(guild, byModerator),
					"The cases:",
				],
				page.map((one) => result(caseLine(guild, one), saidCase(one))),
				{ models: next === undefined ? [] : [`next_before=${next}`], people: [], pages },
			);
		},
	});
}

function editCase({ cases }: CaseToolOptions) {
	return editTool({
		name: "edit_case",
		toolset: "moderation",
		title: "Edit a case",
		description: "Change the reason of a case, delete it or restore it; its history is kept.",
		person: { ...person, may: "cases" },
		lock: ({ guild_id, number }) => [`case ${guild_id} ${number}`],
		input: {
			guild_id,
			number,
			reason: v.optional(text(1, maxReasonLength, "The new reason.")),
			deleted: flag("true deletes, false restores."),
		},
		async run({ number, reason, deleted }, { guild }) {
			if (reason === undefined && deleted === undefined)
				throw invalidParameters(["reason, deleted: expected at least one of the two"]);
			const one = await find(cases, guild, number);
			const acting = actingPerson(guild);
			requireEditor(guild, one);
			const editor = acting?.id ?? guild.client.user.id;
			const changes: [string, Said][] = [];
			const shown = String(number);
			if (reason !== undefined && reason !== one.reason) {
				await cases.edit(guild.id, number, editor, reason);
				changes.push(["changed the reason", said("result.case_reason", { number: shown })]);
			}
			if (deleted !== undefined && (await cases.remove(guild.id, number, editor, deleted)))
				changes.push(
					deleted
						? ["deleted it", said("result.case_deleted", { number: shown })]
						: ["restored it", said("result.case_restored", { number: shown })],
				);
			if (changes.length === 0) throw new SaidError(said("refusal.same_case", { number: shown }));
			const texts = changes.map(([text]) => text);
			return result(`Case ${number}: ${texts.join(", ")}.`, ...changes.map(([, people]) => people));
		},
	});
}

function requireEditor(guild: Guild, { number, userId, moderatorId }: Case) {
	const acting = actingPerson(guild);
	if (!acting || acting.id === guild.ownerId) return;
	if (acting.id === userId) throw new SaidError(said("refusal.own_case", { number: String(number) }));
	if (acting.id === moderatorId) return;
	if (personHas(guild, undefined, PermissionFlagsBits.ManageGuild)) return;
	throw new SaidError(said("refusal.others_case", { number: String(number) }), {
		models: `Only its moderator and people with ${describeBits(PermissionFlagsBits.ManageGuild)} may change case ${number}. Nothing was done.`,
	});
}

async function find(cases: Cases, guild: Guild, number: number): Promise<Case> {
	const one = await cases.find(guild.id, number);
	if (one) return one;
	throw new SaidError(said("refusal.no_case", { number: String(number) }), {
		models: `The guild ${guild.id} has no case ${number}. Use list_cases to find cases.`,
	});
}

const people: ActionOption = { name: "user", kind: "user", argument: "user_ids", required: true, several: true };

const numberOption: ActionOption = { name: "case", kind: "case", argument: "number", required: true, min: 1 };

const reason: ActionOption = {
	name: "reason",
	kind: "reason",
	argument: "reason",
	required: true,
	max: maxReasonLength,
};

export const caseCommands: readonly Action[] = [
	{
		name: "warn",
		tool: "warn_member",
		options: [people, reason, { name: "tell", kind: "flag", argument: "tell" }],
		may: "warn",
		chat: ["user", "reason"],
		menus: [
			{ type: "user", name: "Warn", args: ({ userId }) => ({ user_ids: [userId] }), asks: ["reason"] },
			{
				type: "message",
				name: "Warn",
				args: ({ userId, messageId }) => ({
					user_ids: [userId],
					...(messageId !== undefined && { message_ids: [messageId] }),
				}),
				asks: ["reason"],
			},
		],
	},
	{
		name: "note",
		tool: "note_member",
		options: [people, { name: "note", kind: "text", argument: "note", required: true, max: maxReasonLength }],
		may: "warn",
	},
	{ name: "case", tool: "list_cases", isPrivate: true, options: [numberOption], may: "cases" },
	{
		name: "cases",
		tool: "list_cases",
		isPrivate: true,
		options: [
			{ name: "user", kind: "user", argument: "user_ids" },
			{ name: "moderator", kind: "user", argument: "moderator_ids" },
			{ name: "action", kind: "choice", argument: "action", choices: caseActions.slice(0, 25) },
			{ name: "before", kind: "case", argument: "before", min: 1 },
		],
		pages: "before",
		may: "cases",
		chat: ["user"],
	},
	{ name: "edit-case", tool: "edit_case", options: [numberOption, reason], may: "cases" },
	{
		name: "delete-case",
		tool: "edit_case",
		options: [numberOption, { name: "restore", kind: "flag", argument: "deleted", convert: (value) => value !== true }],
		fixed: { deleted: true },
		may: "cases",
		chat: ["case"],
	},
];

const automatic = /^(?:Undo of |Report #\d)/;

const maxSuggestions = 25;
const maxLength = 100;

/** Recent reasons of this moderator and of the guild, or numbers of the latest cases. `nameOf`: of people who are known. */
export async function suggestCases(
	cases: Cases,
	{ kind, guildId, userId, text, locale }: SuggestQuery,
	nameOf: (userId: string) => string | undefined,
): Promise<Suggestion[]> {
	const typed = text.trim().toLowerCase();
	if (kind === "reason") {
		const reasons = await cases.recentReasons(guildId, userId);
		return (
			reasons
				.filter((reason) => !automatic.test(reason))
				.filter((reason) => reason.toLowerCase().includes(typed))
				// Discord refuses longer values.
				.filter((reason) => [...reason].length <= maxLength)
				.map((reason) => ({ name: truncate(joinLines(reason), maxLength), value: reason }))
		);
	}
	const exact = /^\d{1,9}$/.test(typed) ? await cases.find(guildId, Number(typed)) : undefined;
	const latest = await cases.list(guildId, {}, { limit: maxSuggestions });
	const all = [
		...(exact ? [exact] : []),
		...latest.filter(({ number }) => number !== exact?.number && String(number).startsWith(typed)),
	];
	const say = sayIn(locale);
	return all.slice(0, maxSuggestions).map(({ number, action, userId, ...one }) => {
		const reason = saidReason(one);
		const person = userId && nameOf(userId);
		const shown = { number: String(number), action: said(`case.action.${action}`) };
		const title = person ? say("answer.case_of", { ...shown, person }) : say("answer.case", shown);
		const name = reason ? `${title}, ${render(reason, languageOf(locale))}` : title;
		return { name: truncate(joinLines(name), maxLength), value: String(number) };
	});
}
