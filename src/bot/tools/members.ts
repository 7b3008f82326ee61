// Members of a guild, and their nicknames.

import { type Guild, type GuildMember, PermissionFlagsBits } from "discord.js";
import * as v from "valibot";
import { actingPerson } from "../../discord/acting-person.ts";
import { memberFields, memberName, roleLabel, roleName, time } from "../../discord/describe.ts";
import { currentMember, unknownMembers } from "../../discord/find.ts";
import {
	comparerFor,
	firstOf,
	isTimedOut,
	type MemberOrder,
	memberOrders,
	roleIds,
} from "../../discord/members/member-filter.ts";
import { findByName } from "../../discord/members/name-search.ts";
import { describeBits, personHas } from "../../discord/permissions.ts";
import { countOf, fieldLine, fold, oneField, oneLine, resultLines, thousands } from "../../discord/text.ts";
import { compareIds } from "../../guild-document/names/ids.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { invalidParameters } from "../../mcp/tool.ts";
import { SaidError } from "../../texts/said-error.ts";
import { said } from "../../texts/texts.ts";
import { showsPending } from "../people/facts.ts";
import { written } from "../results/people-text.ts";
import { asking, parts, result } from "../results/result.ts";
import {
	choice,
	flag,
	found,
	guild_id,
	limit,
	nameQuery,
	oneOrMore,
	reason,
	snowflakeOrEmpty,
	text,
} from "../tool/arguments/arguments.ts";
import { sample } from "../tool/bulk.ts";
import type { PeopleContext } from "../tool/context.ts";
import { editTool, readTool } from "../tool/define.ts";
import { previewIn, where } from "../tool/people.ts";
import { readTimeouts, type TimeoutOf } from "./members/done-by.ts";
import { memberOrAbsent, membersAmong } from "./members/several-members.ts";

const { Administrator, ManageRoles, ModerateMembers } = PermissionFlagsBits;

export const listMembers = readTool({
	name: "list_members",
	toolset: "core",
	offered: "listed",
	title: "List members",
	description: "List and count members: names, id, day of joining, and what `where` asks.",
	intents: ["GuildMembers"],
	input: {
		guild_id,
		where,
		details: v.optional(flag("Roles, times.")),
		sort: v.optional(choice(memberOrders, "Order."), "id"),
		limit: limit(1000, 100),
		// Clients of other MCP servers send an empty id for the first page.
		after: v.optional(snowflakeOrEmpty("Previous page's last member.")),
	},
	async run({ where = [], ...options }, context) {
		if (where.length <= 1) return answer(where[0], options, context);
		if (options.after) throw invalidParameters(["after: expected only the `where` to which it belongs"]);
		const lines: string[] = [];
		for (const one of where) lines.push(`where: ${oneLine(one)}`, ...(await answer(one, options, context)));
		return lines;
	},
});

interface ListOptions {
	details?: boolean | undefined;
	sort: MemberOrder;
	limit: number;
	after?: string | undefined;
}

async function answer(
	where: string | undefined,
	{ details = false, sort, limit, after }: ListOptions,
	context: PeopleContext,
): Promise<string[]> {
	const { guild, connection, people } = context;
	const { cache } = guild.members;
	const nowMs = Date.now();
	const question = where === undefined ? undefined : (previewIn(where, context) ?? { where, nowMs });
	const found = question && (await people.find(context, { ...question, reads: true }));
	const matching = found?.matches ?? [...cache.values()];
	const total = matching.length;
	const { page, next } = pageOf(matching, { guild, sort, after, limit });
	const bots = matching.filter(({ user }) => user.bot).length;
	const shown = page.length < total && `, ${page.length} shown`;
	const counts = found
		? `${thousands(total)} of ${countOf(cache.size, "member")} match${bots > 0 ? `, ${countOf(bots, "bot")} among them` : ""}${shown || ""}`
		: `${thousands(page.length)} of ${countOf(cache.size, "member")}`;
	const asksTimeouts = /time.?d?.?out/i.test(question?.where ?? "");
	const timeoutOf = await readTimeouts(guild, asksTimeouts ? page.filter((member) => isTimedOut(member, nowMs)) : []);
	const format = memberFormatter(guild, nowMs, {
		timeoutOf,
		factsOf: found?.factsOf,
		showsRoles: details,
		showsTimes: details || sort.startsWith("joined"),
	});
	return resultLines(
		`${counts}${found ? ` (now ${time(nowMs)})` : ""}${page.length > 0 ? ":" : "."}`,
		page.map(format),
		openLines(found?.unknown ?? [], found?.factsOf, format),
		found?.notes,
		unknownMembers(guild, connection),
		next,
	);
}

const maxUnknown = 20;

/** Those who may match. Many of whom the same is unknown are one line. */
function openLines(
	members: readonly GuildMember[],
	factsOf: (member: GuildMember) => string = () => "",
	format: (member: GuildMember) => string,
): string[] {
	if (members.length === 0) return [];
	const lines = [...Map.groupBy(members, factsOf)].flatMap(([facts, some]) =>
		some.length > maxAlike ? [`${thousands(some.length)} members: ${facts}`] : some.map(format),
	);
	return [`${countOf(members.length, "more member")} may match:`, ...sample(lines, maxUnknown, (line) => line)];
}

const maxAlike = 5;

interface MemberFormat {
	timeoutOf: TimeoutOf;
	/** What a question asks. Instead of the day of joining, but not of the time. */
	factsOf?: ((member: GuildMember) => string) | undefined;
	showsRoles: boolean;
	/** Otherwise only the day of joining. */
	showsTimes: boolean;
}

function memberFormatter(
	guild: Guild,
	nowMs: number,
	{ timeoutOf, factsOf, showsRoles, showsTimes }: MemberFormat,
): (member: GuildMember) => string {
	const order = [...guild.roles.cache.values()].sort((a, b) => b.comparePositionTo(a));
	const showsTimeouts = personHas(guild, undefined, ModerateMembers);
	const showsRules = showsPending(guild);
	const rank = new Map(order.map(({ id }, index) => [id, index]));
	const names = order.map(roleLabel);
	const rolesOf = (member: GuildMember) =>
		member[roleIds]
			.map((id) => rank.get(id))
			.filter((index) => index !== undefined)
			.sort((a, b) => a - b)
			.map((index) => names[index]);
	return (member) => {
		const joined = time(member.joinedAt);
		return fieldLine(
			memberFields(member),
			showsRoles && `roles: ${rolesOf(member).join(", ") || "none"}`,
			showsTimes ? `joined: ${joined}` : !factsOf && `joined: ${joined.slice(0, 10)}`,
			factsOf?.(member),
			member.id === guild.ownerId && "owner",
			member.user.bot && "bot",
			showsRules && member.pending && "pending",
			showsTimeouts && isTimedOut(member, nowMs) && `timed out until ${timeoutOf(member)}`,
		);
	};
}

interface PageRequest {
	guild: Guild;
	sort: MemberOrder;
	after: string | undefined;
	limit: number;
}

/** Throws a ToolError if the member `after` has left the guild, unless the order is by id. */
function pageOf(
	members: readonly GuildMember[],
	{ guild, sort, after, limit }: PageRequest,
): { page: GuildMember[]; next: string[] } {
	const compare = comparerFor(sort);
	const isNext = nextAfter(guild, sort, after);
	const rest = isNext ? members.filter(isNext) : members;
	const page = firstOf(rest, limit, compare);
	const last = page.at(-1);
	return { page, next: last && rest.length > limit ? [`next_after=${last.id}`] : [] };
}

function nextAfter(
	guild: Guild,
	sort: MemberOrder,
	after: string | undefined,
): ((member: GuildMember) => boolean) | undefined {
	if (!after) return undefined;
	// Ids are in order even if that member has left.
	if (sort === "id") return ({ id }) => compareIds(id, after) > 0;
	const last = guild.members.cache.get(after);
	if (!last)
		throw new ToolError(
			`The user ${after} (\`after\`) is no longer in the guild, so the bot cannot find the next page. Start again without \`after\`, or sort by id.`,
		);
	const compare = comparerFor(sort);
	return (member) => compare(member, last) > 0;
}

export const lookupUserByName = readTool({
	name: "lookup_user_by_name",
	toolset: "core",
	offered: "listed",
	title: "Look up a user by name",
	description:
		"Find members by part of a nickname, display name or username, ignoring case and accents; best matches first.",
	intents: ["GuildMembers"],
	input: {
		guild_id,
		query: nameQuery("Part of a name, or a list; @ada: the username ada, if it exists."),
		limit: limit(50, 10, "How many of each at most."),
	},
	run({ query, limit }, { guild, connection }) {
		const found = query.flatMap((one) => lookUp(guild, one, limit, query.length > 1));
		return resultLines(found, unknownMembers(guild, connection));
	},
});

function lookUp(guild: Guild, query: string, limit: number, isNamed: boolean): string[] {
	const name = fold(query.replace(/^@(?=.)/, ""));
	if (name === "") throw invalidParameters(["query: expected letters or digits, not only accents"]);
	const { total, members: found } = findByName(guild, name, limit);
	if (total === 0) return [`No member's name contains "${oneField(query)}".`];
	const isUsername = query.startsWith("@") && hasUsername(found[0], name);
	const members = isUsername ? found.slice(0, 1) : found;
	const first =
		members.length === total ? "" : isUsername ? ", of which this has the username" : `, the first ${members.length}`;
	const of = isNamed ? ` of "${oneField(query)}"` : "";
	return [`${total} match(es)${of}${first}:`, ...members.map(memberFields)];
}

function hasUsername(member: GuildMember | undefined, name: string): boolean {
	return member !== undefined && fold(member.user.username) === name;
}

export const getMember = readTool({
	name: "get_member",
	toolset: "core",
	offered: "listed",
	title: "Get a member",
	description: "Members' names, dates, timeout, boost, roles from the highest down, and permissions in the guild.",
	input: { guild_id, user_ids: oneOrMore(found(memberOrAbsent, "member"), 20, "Members.") },
	async run(_, { guild, users }) {
		const { members, absent } = membersAmong(guild, users);
		const timeoutOf = await readTimeouts(
			guild,
			members.filter((member) => member.isCommunicationDisabled()),
		);
		return parts(...members.map((member) => describeMember(guild, member, timeoutOf)), absent);
	},
});

function describeMember(guild: Guild, member: GuildMember, timeoutOf: TimeoutOf): string[] {
	const { user, nickname } = member;
	const isSelf = member.id === actingPerson(guild)?.id;
	const roles = [...member.roles.cache.values()]
		.filter(({ id }) => id !== guild.id)
		.sort((a, b) => b.comparePositionTo(a));
	const labels = resultLines(
		user.id === guild.ownerId && "owner of the guild",
		user.bot && "bot",
		member.pending && (isSelf || showsPending(guild)) && "has not yet accepted the rules",
	);
	return [
		memberName(member),
		nickname ? `Nickname: ${oneField(nickname)}` : "",
		user.globalName ? `Global display name: ${oneField(user.globalName)}` : "",
		`Is: ${labels.join(", ") || "a member"}`,
		`Joined: ${time(member.joinedAt)}`,
		`Registered: ${time(user.createdAt)}`,
		isSelf || personHas(guild, undefined, ModerateMembers)
			? `Timed out until: ${member.isCommunicationDisabled() ? timeoutOf(member) : "not timed out"}`
			: "",
		member.premiumSince ? `Boosts since: ${time(member.premiumSince)}` : "",
		isSelf || personHas(guild, undefined, ManageRoles) ? describePermissions(member) : "",
		`${roles.length} role(s), the highest first:`,
		...roles.map(roleName),
	].filter((line) => line !== "");
}

function describePermissions({ id, guild, permissions }: GuildMember): string {
	if (permissions.has(Administrator)) return `Permissions: all (${id === guild.ownerId ? "owner" : "ADMINISTRATOR"})`;
	const everyone = guild.roles.everyone.permissions.bitfield;
	return `Permissions beyond those of @everyone: ${describeBits(permissions.bitfield & ~everyone)}`;
}

export const setNickname = editTool({
	name: "set_nickname",
	toolset: "moderation",
	title: "Set a nickname",
	description: "Set the nickname of a member or the bot; without `nickname`, or with an empty one, remove it.",
	permissions: [
		{ permission: "ManageNicknames", with: "user_id", when: ({ user_id }, botId) => user_id !== botId },
		{ permission: "ChangeNickname", with: "user_id", when: ({ user_id }, botId) => user_id === botId },
	],
	ranked: "others",
	person: {
		permissions: [
			{
				permission: "ManageGuild",
				with: "user_id",
				when: ({ user_id }, _, { client }) => user_id === client.user.id,
				why: () => said("refusal.why.rename"),
			},
		],
	},
	lock: "user_id",
	input: {
		guild_id,
		user_id: found(currentMember, "member"),
		nickname: v.optional(text(0, 32, "The nickname; empty for none."), ""),
		reason,
	},
	plan({ nickname }, { guild, user: member }) {
		const before = member.nickname ?? "";
		const describeNick = (name: string) => (name === "" ? "no nickname" : `the nickname "${oneField(name)}"`);
		if (before === nickname)
			throw new SaidError(
				said(before === "" ? "refusal.no_nickname" : "refusal.has_nickname", { who: `<@${member.id}>` }),
				{
					models: `Nothing would change: ${memberName(member)} already has ${describeNick(before)}. Nothing was done.`,
				},
			);
		const nick = nickname || null;
		const { members } = guild;
		const isBot = member.id === guild.client.user.id;
		return {
			preview: asking(
				`Would give ${memberName(member)} ${describeNick(nickname)}, instead of ${describeNick(before)}.`,
				nickname === ""
					? said("preview.no_nickname", { who: `<@${member.id}>` })
					: said("preview.nickname", { who: `<@${member.id}>`, name: written(nickname) }),
			),
			record: { action: "nickname", userIds: [member.id] },
			async act() {
				const edited = await (isBot ? members.editMe({ nick }) : members.edit(member.id, { nick }));
				// A 204 response does not contain the nickname.
				const now = edited.nickname ?? "";
				const shown = now === before ? nickname : now;
				const who = `<@${member.id}>`;
				return result(
					`${memberName(edited)} now has ${describeNick(shown)}, and had ${describeNick(before)}.`,
					shown === ""
						? said("result.nickname_removed", { who })
						: said("result.nickname", { who, name: written(shown) }),
					before !== "" && said("result.nickname_before", { name: written(before) }),
				);
			},
		};
	},
});
