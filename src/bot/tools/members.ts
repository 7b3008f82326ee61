// Members of a guild, and their nicknames.

import { type Guild, type GuildMember, SnowflakeUtil } from "discord.js";
import * as v from "valibot";
import { invalidParameters, ToolError } from "../../mcp/tool.ts";
import type { Connection } from "../discord/connection/connection.ts";
import {
	memberFields,
	memberName,
	roleName,
	time,
} from "../discord/describe.ts";
import { currentMember, member, role } from "../discord/find.ts";
import { compareIds } from "../discord/ids.ts";
import { memberIndex, membersOf } from "../discord/members/member-cache.ts";
import { describeBits } from "../discord/permissions.ts";
import { fold, oneField, resultLines } from "../discord/text.ts";
import {
	flag,
	found,
	guild_id,
	limit,
	type Moment,
	moment,
	reason,
	requireOneOf,
	snowflake,
	snowflakeOrEmpty,
	text,
} from "../tool/arguments.ts";
import { editTool, readTool } from "../tool/define.ts";

export const listMembers = readTool({
	name: "list_members",
	toolset: "core",
	title: "List members",
	description:
		"List a guild's members by id: names, id, role ids, when they joined.",
	intents: ["GuildMembers"],
	input: v.strictObject({
		guild_id,
		limit: limit(1000, 100),
		// Clients of other MCP servers send an empty id for the first page.
		after: v.optional(
			snowflakeOrEmpty("Id of the previous page's last member."),
		),
	}),
	run({ limit, after: cursor }, { guild, connection }) {
		const after = cursor || undefined;
		const members = [...guild.members.cache.values()];
		const { page, next } = pageOf(members, after, limit);
		return [
			page.length > 0
				? `${page.length} of ${guild.members.cache.size} member(s):`
				: `No member has an id above ${after}.`,
			...page.map(memberLine),
			...stillLoading(guild, connection),
			...next,
		];
	},
});

function memberLine(member: GuildMember): string {
	return `${memberFields(member)} | roles: ${roleIds(member)} | joined: ${time(member.joinedAt)}`;
}

/**
 * Returns the first `limit` members with an id above `after`, sorted by id. `next` has the result line for reading the
 * next page, if there are more members.
 */
export function pageOf(
	members: readonly GuildMember[],
	after: string | undefined,
	limit: number,
): { page: GuildMember[]; next: string[] } {
	const rest = members
		.filter(({ id }) => after === undefined || compareIds(id, after) > 0)
		.sort((a, b) => compareIds(a.id, b.id));
	const page = rest.slice(0, limit);
	const last = page.at(-1);
	return {
		page,
		next: last && rest.length > limit ? [`next_after=${last.id}`] : [],
	};
}

/** Returns the ids of a member's roles as text, without @everyone, whose id is the guild's. */
function roleIds(member: GuildMember): string {
	const ids = [...member.roles.cache.keys()].filter(
		(id) => id !== member.guild.id,
	);
	return ids.sort(compareIds).join(", ") || "none";
}

/** Returns a note for a tool's result if the guild's members are still being loaded; otherwise no line. */
export function stillLoading(guild: Guild, connection: Connection): string[] {
	if (connection.hasAllMembers(guild)) return [];
	return [
		`Members are still being loaded (${guild.members.cache.size} of ${guild.memberCount}), so some are missing. Call again in a moment.`,
	];
}

export const lookupUserByName = readTool({
	name: "lookup_user_by_name",
	toolset: "core",
	title: "Look up a user by name",
	description:
		"Find members by part of a nickname, display name or username, ignoring case and accents; best matches first.",
	intents: ["GuildMembers"],
	input: v.strictObject({
		guild_id,
		query: text(
			1,
			100,
			"Part of a nickname, display name or username; a leading @ is ignored.",
		),
		limit: limit(50, 10),
	}),
	run({ query, limit }, { guild, connection }) {
		const { total, ids } = memberIndex(guild).find(foldedName(query), limit);
		const members = membersOf(guild, ids);
		const first = members.length < total ? `, the first ${members.length}` : "";
		return [
			total === 0
				? `No member's name contains "${oneField(query)}".`
				: `${total} match(es)${first}:`,
			...members.map(memberFields),
			...stillLoading(guild, connection),
		];
	},
});

/**
 * Removes case and accents from a searched name, so that it can be compared with indexed names. Throws an RpcError if
 * nothing is left.
 */
function foldedName(query: string): string {
	const folded = fold(query.replace(/^@(?=.)/, ""));
	if (folded === "")
		throw invalidParameters(["query: expected more than accents"]);
	return folded;
}

const memberFilters = {
	query: v.optional(
		text(1, 100, "Start of a nickname, display name or username."),
	),
	role_id: v.optional(found(role, "role")),
	joined_before: v.optional(moment("Joined before")),
	joined_after: v.optional(moment("Joined after")),
	is_bot: v.optional(flag("Only bots; false: only people.")),
};

export const searchMembers = readTool({
	name: "search_members",
	toolset: "core",
	extra: true,
	title: "Search members",
	description:
		"List the members who match all filters, by id: names, id, role ids, when they joined. Takes at least one filter.",
	intents: ["GuildMembers"],
	input: v.strictObject({
		guild_id,
		...memberFilters,
		limit: limit(1000, 100),
		after: v.optional(snowflake("previous page's last member")),
	}),
	run(args, { guild, connection }) {
		const { query } = args;
		const names = Object.keys(memberFilters) as (keyof typeof memberFilters)[];
		requireOneOf(args, names, "; list_members lists all members");
		const candidates =
			query === undefined
				? [...guild.members.cache.values()]
				: membersOf(guild, memberIndex(guild).findByPrefix(foldedName(query)));
		const matches = candidates.filter(matcherFor(args));
		const { page, next } = pageOf(matches, args.after, args.limit);
		return [
			page.length > 0
				? `${page.length} of ${matches.length} matching member(s), by id:`
				: `No member${args.after ? ` with an id above ${args.after}` : ""} matches.`,
			...page.map(memberLine),
			...stillLoading(guild, connection),
			...next,
		];
	},
});

interface Filter {
	role_id?: string | undefined;
	joined_before?: Moment | undefined;
	joined_after?: Moment | undefined;
	is_bot?: boolean | undefined;
}

/** Returns a function that says whether a member passes all given filters: role, time of joining, and bot or not. */
export function matcherFor({
	role_id,
	joined_before,
	joined_after,
	is_bot,
}: Filter): (member: GuildMember) => boolean {
	const at = ({ first }: Moment) => SnowflakeUtil.timestampFrom(first);
	const before = joined_before ? at(joined_before) : Infinity;
	const since = joined_after ? at(joined_after) : -Infinity;
	return ({ user, roles, joinedTimestamp: joined }) =>
		(role_id === undefined || roles.cache.has(role_id)) &&
		(is_bot === undefined || user.bot === is_bot) &&
		((!joined_before && !joined_after) ||
			(joined !== null && joined < before && joined >= since));
}

export const getMember = readTool({
	name: "get_member",
	toolset: "core",
	title: "Get a member",
	description:
		"A member's names, dates, timeout, boost, roles from the highest down, and permissions in the guild.",
	input: v.strictObject({ guild_id, user_id: found(member, "member") }),
	run(_, { guild, user: member }) {
		const { user, nickname, communicationDisabledUntil: until } = member;
		const roles = [...member.roles.cache.values()]
			.filter(({ id }) => id !== guild.id)
			.sort((a, b) => b.comparePositionTo(a));
		const labels = resultLines(
			user.id === guild.ownerId && "owner of the guild",
			user.bot && "bot",
			member.pending && "has not yet accepted the rules",
		);
		return [
			memberName(member),
			`Nickname: ${nickname ? oneField(nickname) : "none"}`,
			`Global display name: ${user.globalName ? oneField(user.globalName) : "none"}`,
			`Is: ${labels.join(", ") || "a member"}`,
			`Joined: ${time(member.joinedAt)}`,
			`Registered: ${time(user.createdAt)}`,
			`Timed out until: ${member.isCommunicationDisabled() ? time(until) : "not timed out"}`,
			`Boosts since: ${member.premiumSince ? time(member.premiumSince) : "does not boost"}`,
			`Permissions in the guild: ${describeBits(member.permissions.bitfield)}`,
			`${roles.length} role(s), the highest first:`,
			...roles.map(roleName),
		];
	},
});

export const setNickname = editTool({
	name: "set_nickname",
	toolset: "moderation",
	title: "Set a nickname",
	description:
		"Set the nickname of a member or the bot; without `nickname`, or with an empty one, remove it.",
	permissions: [
		{
			permission: "ManageNicknames",
			with: "user_id",
			when: ({ user_id }, botId) => user_id !== botId,
		},
		{
			permission: "ChangeNickname",
			with: "user_id",
			when: ({ user_id }, botId) => user_id === botId,
		},
	],
	ranked: "others",
	lock: "user_id",
	input: v.strictObject({
		guild_id,
		user_id: found(currentMember, "member"),
		nickname: v.optional(text(0, 32, "The nickname; empty for none."), ""),
		reason,
	}),
	async run({ nickname }, { guild, user: member }) {
		const before = member.nickname ?? "";
		const describeNick = (name: string) =>
			name === "" ? "no nickname" : `the nickname "${oneField(name)}"`;
		if (before === nickname)
			throw new ToolError(
				`Nothing would change: ${memberName(member)} already has ${describeNick(before)}. Nothing was done.`,
			);
		const nick = nickname || null;
		const { members } = guild;
		const isBot = member.id === guild.client.user.id;
		const edited = await (isBot
			? members.editMe({ nick })
			: members.edit(member.id, { nick }));
		// A 204 response does not contain the nickname.
		const now = edited.nickname ?? "";
		return `${memberName(edited)} now has ${describeNick(now === before ? nickname : now)}, and had ${describeNick(before)}.`;
	},
});
