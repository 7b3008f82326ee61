// Members of a guild, and their nicknames.

import { type Guild, type GuildMember, PermissionFlagsBits } from "discord.js";
import * as v from "valibot";
import { actingPerson } from "../../discord/acting-person.ts";
import { memberFields, memberName, roleLabel, roleName, time, userLabel, userName } from "../../discord/describe.ts";
import { unknownMembers } from "../../discord/find.ts";
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
import { countOf, fieldLine, fold, oneField, resultLines, thousands } from "../../discord/text.ts";
import { compareIds } from "../../guild-document/names/ids.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { invalidParameters } from "../../mcp/tool.ts";
import { SaidError } from "../../texts/said-error.ts";
import { said } from "../../texts/texts.ts";
import { showsPending } from "../people/facts.ts";
import { whereProblem } from "../people/where.ts";
import { written } from "../results/people-text.ts";
import { asking, mentions, parts, result } from "../results/result.ts";
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
import { planEach, sample } from "../tool/bulk.ts";
import type { PeopleContext } from "../tool/context.ts";
import { editTool, readTool } from "../tool/define.ts";
import { isPreview, previewIn, sharedFacts, where } from "../tool/people.ts";
import { readTimeouts, type TimeoutOf } from "./members/bans.ts";
import { asMembers, caseOf, currentAmong, memberOrAbsent, membersAmong } from "./members/several-members.ts";

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
		details: flag("Roles, times."),
		sort: v.optional(choice(memberOrders, "Order."), "id"),
		limit: limit(1000, 100, "Rows; 0: count.", 0),
		// Clients of other MCP servers send an empty id for the first page.
		after: v.optional(snowflakeOrEmpty("Previous page's last member.")),
	},
	async run({ where = [], ...options }, context) {
		if (where.length <= 1) return answer(where[0], options, context);
		if (options.after) throw invalidParameters(["after: expected only the `where` to which it belongs"]);
		const lines: string[] = [];
		const above = new Set<string>();
		const told = new Set<string>();
		// All mistakes at once, before the first search.
		const mistakes = where.flatMap((one) => (isPreview(one) ? [] : whereProblem(one)));
		if (mistakes.length > 0) throw new ToolError(mistakes.join("\n"));
		for (const [index, one] of where.entries())
			lines.push(`where ${index + 1}: ${(await answer(one, { ...options, above, told }, context)).join("\n")}`);
		return lines;
	},
});

interface ListOptions {
	details?: boolean | undefined;
	sort: MemberOrder;
	limit: number;
	after?: string | undefined;
	/** Who is listed for an earlier `where` of the call. */
	above?: Set<string>;
	/** Notes of an earlier one. */
	told?: Set<string>;
}

async function answer(where: string | undefined, options: ListOptions, context: PeopleContext): Promise<string[]> {
	const { details = false, sort, limit, above = new Set(), told = new Set() } = options;
	const { guild, connection, people } = context;
	const { cache } = guild.members;
	const nowMs = Date.now();
	const question = where === undefined ? undefined : (previewIn(where, context) ?? { where, nowMs });
	const found = question && (await people.find(context, { ...question, reads: true }));
	const matching = found?.matches ?? [...cache.values()];
	const total = matching.length;
	const isNext = nextAfter(guild, options);
	const rest = isNext ? matching.filter(isNext) : matching;
	const page = firstOf(rest, limit, comparerFor(sort));
	const bots = matching.filter(({ user }) => user.bot).length;
	const shown = page.length < total && limit > 0 && `, ${page.length} shown`;
	const counts = found
		? `${thousands(total)} of ${countOf(cache.size, "member")} match${bots > 0 ? `, ${countOf(bots, "bot")} among them` : ""}${shown || ""}`
		: `${limit > 0 ? `${thousands(page.length)} of ` : ""}${countOf(cache.size, "member")}`;
	const asksTimeouts = /time.?d?.?out/i.test(question?.where ?? "");
	const timeoutOf = await readTimeouts(guild, asksTimeouts ? page.filter((member) => isTimedOut(member, nowMs)) : []);
	const showsTimes = details || sort.startsWith("joined");
	const alike = found && sharedFacts(page, found.factsOf);
	// With times, each has another one.
	const shared = showsTimes && alike?.includes("joined ") ? undefined : alike;
	const rolesOf = roleLabels(guild);
	const [showsTimeouts, showsRules] = [personHas(guild, undefined, ModerateMembers), showsPending(guild)];
	const format = (member: GuildMember) => {
		const own = found?.factsOf(member) ?? "";
		// Instead of the day of joining, but not of the time.
		const facts = own === shared ? "" : own;
		if (above.has(member.id)) return fieldLine(`${userLabel(member.user)} (above)`, facts);
		const joined = time(member.joinedAt);
		const asked = `joined ${joined.slice(0, 10)}`;
		const showsJoined = (showsTimes || !found) && !facts.includes(asked);
		return fieldLine(
			memberFields(member),
			details && `roles: ${rolesOf(member).join(", ") || "none"}`,
			showsJoined && `joined: ${showsTimes ? joined : joined.slice(0, 10)}`,
			showsTimes ? facts.replace(asked, `joined ${joined}`) : facts,
			member.id === guild.ownerId && "owner",
			member.user.bot && "bot",
			showsRules && member.pending && "pending",
			showsTimeouts && isTimedOut(member, nowMs) && `timed out until ${timeoutOf(member)}`,
		);
	};
	const rows = page.map(format);
	const now = found && above.size === 0 ? ` (now ${time(nowMs)})` : "";
	for (const { id } of page) above.add(id);
	const { notes = [] } = found ?? {};
	const lines = resultLines(
		`${counts}${now}${shared ? `, all of them ${shared}` : ""}${page.length > 0 ? ":" : "."}`,
		rows,
		openLines(found?.unknown ?? [], limit > 0 && format, found?.factsOf),
		notes.filter((note) => !told.has(note)),
		unknownMembers(guild, connection),
		page.length > 0 && rest.length > limit && `next_after=${page.at(-1)?.id}`,
	);
	for (const note of notes) told.add(note);
	return lines;
}

const maxUnknown = 20;
const maxAlike = 5;

/** Those who may match. Many of whom the same is unknown are one line. */
function openLines(
	members: readonly GuildMember[],
	format: false | ((member: GuildMember) => string),
	factsOf: (member: GuildMember) => string = () => "",
): string[] {
	const count = `${countOf(members.length, "more member")} may match`;
	if (members.length === 0 || !format) return members.length === 0 ? [] : [`${count}.`];
	const lines = [...Map.groupBy(members, factsOf)].flatMap(([facts, some]) =>
		some.length > maxAlike ? [`${thousands(some.length)} members: ${facts}`] : some.map(format),
	);
	return [`${count}:`, ...sample(lines, maxUnknown, (line) => line)];
}

/** Of the highest first. */
function roleLabels(guild: Guild): (member: GuildMember) => string[] {
	const order = [...guild.roles.cache.values()].sort((a, b) => b.comparePositionTo(a));
	const rank = new Map(order.map(({ id }, index) => [id, index]));
	const names = order.map(roleLabel);
	return (member) =>
		member[roleIds]
			.flatMap((id) => rank.get(id) ?? [])
			.sort((a, b) => a - b)
			.map((index) => names[index] ?? "");
}

/** Throws a ToolError if the member `after` has left the guild, unless the order is by id. */
function nextAfter(guild: Guild, { sort, after }: ListOptions): ((member: GuildMember) => boolean) | undefined {
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
		query: nameQuery("Part of a name, or a list; @ada: the username."),
		limit: limit(50, 10, "Maximum of each."),
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
	const isUsername = query.startsWith("@") && fold(found[0]?.user.username ?? "") === name;
	const members = isUsername ? found.slice(0, 1) : found;
	const first =
		members.length === total ? "" : isUsername ? ", of which this has the username" : `, the first ${members.length}`;
	const of = isNamed ? ` of "${oneField(query)}"` : "";
	return [`${total} match(es)${of}${first}:`, ...members.map(memberFields)];
}

export const getMember = readTool({
	name: "get_member",
	toolset: "core",
	offered: "listed",
	title: "Get a member",
	description: "Members' names, dates, timeout, boost, roles from the top, and guild permissions.",
	input: { guild_id, user_ids: oneOrMore(found(memberOrAbsent, "member"), 20, "Members.") },
	async run(_, { guild, users }) {
		const { members, absent } = membersAmong(guild, users);
		const muted = members.filter((member) => member.isCommunicationDisabled());
		const timeoutOf = await readTimeouts(guild, muted);
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
	const seesTimeouts = isSelf || personHas(guild, undefined, ModerateMembers);
	return resultLines(
		memberName(member),
		nickname && `Nickname: ${oneField(nickname)}`,
		user.globalName && `Global display name: ${oneField(user.globalName)}`,
		`Is: ${labels.join(", ") || "a member"}`,
		`Joined: ${time(member.joinedAt)}`,
		`Registered: ${time(user.createdAt)}`,
		seesTimeouts && `Timed out until: ${member.isCommunicationDisabled() ? timeoutOf(member) : "not timed out"}`,
		member.premiumSince && `Boosts since: ${time(member.premiumSince)}`,
		(isSelf || personHas(guild, undefined, ManageRoles)) && describePermissions(member),
		`${roles.length} role(s), the highest first:`,
		roles.map(roleName),
	);
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
	description: "Set the nickname of members or the bot; without `nickname`, or with an empty one, remove it.",
	permissions: [
		{
			permission: "ManageNicknames",
			with: "user_ids",
			when: ({ user_ids }, botId) => user_ids.some((id) => id !== botId),
		},
		{ permission: "ChangeNickname", with: "user_ids", when: ({ user_ids }, botId) => user_ids.includes(botId) },
	],
	ranked: "others",
	person: {
		permissions: [
			{
				permission: "ManageGuild",
				with: "user_ids",
				when: ({ user_ids }, _, { client }) => user_ids.includes(client.user.id),
				why: () => said("refusal.why.rename"),
			},
		],
	},
	lock: "user_ids",
	input: {
		guild_id,
		user_ids: oneOrMore(found(memberOrAbsent, "member"), 200, "Members."),
		nickname: v.optional(text(0, 32, "The nickname; empty for none."), ""),
		reason,
	},
	async plan({ nickname }, { guild, users }) {
		const { members, absent, only } = await currentAmong(guild, users);
		const nick = nickname || null;
		const items = members.filter((member) => member.nickname !== nick);
		const wanted = describeNick(nick);
		if (items.length === 0)
			throw new SaidError(said(nick ? "refusal.has_nickname" : "refusal.no_nickname", { who: mentions(members) }), {
				models: `Nothing would change: ${members.map(memberName).join(", ")} already ${only ? "has" : "have"} ${wanted}. Nothing was done.`,
			});
		const before = only && describeNick(only.nickname);
		const done = (some: readonly GuildMember[]) => {
			const who = mentions(some);
			return nick ? said("result.nickname", { who, name: written(nick) }) : said("result.nickname_removed", { who });
		};
		const who = mentions(items);
		// Read before the writes, which change the members.
		const lines = new Map(
			items.map((member) => [member, `${userName(member.user)} | before: ${describeNick(member.nickname)}`]),
		);
		return planEach({
			...asMembers,
			items,
			asks: asking(
				only
					? `Would give ${memberName(only)} ${wanted}, instead of ${before}.`
					: [`Would give ${items.length} member(s) ${wanted}:`, ...lines.values()],
				nick ? said("preview.nickname", { who, name: written(nick) }) : said("preview.no_nickname", { who }),
			),
			rest: absent,
			record: caseOf("nickname", items),
			describe: (member: GuildMember) => lines.get(member) ?? "",
			single:
				only &&
				result(
					`${memberName(only)} now has ${wanted}, and had ${before}.`,
					done(items),
					only.nickname !== null && said("result.nickname_before", { name: written(only.nickname) }),
				),
			write: ({ id }) =>
				id === guild.client.user.id ? guild.members.editMe({ nick }) : guild.members.edit(id, { nick }),
			done: (count, of) => `Gave ${count} of ${of} member(s) ${wanted}:`,
			people: done,
		});
	},
});

const describeNick = (nickname: string | null) => (nickname ? `the nickname "${oneField(nickname)}"` : "no nickname");
