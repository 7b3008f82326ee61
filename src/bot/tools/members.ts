// Members: people in a guild, and what they are called there.

import { type Guild, type GuildMember, SnowflakeUtil } from "discord.js";
import * as v from "valibot";
import { invalidParameters, ToolError } from "../../mcp/tool.ts";
import type { Connection } from "../discord/connection/connection.ts";
import { memberName, roleName, time } from "../discord/describe.ts";
import { currentMember, member, role } from "../discord/find.ts";
import { compareIds } from "../discord/ids.ts";
import { memberIndex, membersOf } from "../discord/members/member-cache.ts";
import { describeBits } from "../discord/permissions.ts";
import { fold, oneField } from "../discord/text.ts";
import {
	flag,
	found,
	guild_id,
	limit,
	type Moment,
	moment,
	reason,
	snowflake,
	snowflakeOrEmpty,
	text,
} from "../tool/arguments.ts";
import { tool } from "../tool/define.ts";

export const listMembers = tool({
	name: "list_members",
	toolset: "core",
	title: "List members",
	description:
		"List a guild's members by id: names, id, role ids, when they joined.",
	effect: "read",
	intents: ["GuildMembers"],
	input: v.strictObject({
		guild_id,
		limit: limit(1000, 100),
		// Programs that were written for other servers ask for the first page with an empty id.
		after: v.optional(
			snowflakeOrEmpty(
				"Id of the last member of the page before; the first page when omitted.",
			),
		),
	}),
	run({ limit, after: border }, { guild, connection }) {
		const after = border || undefined;
		const { shown, next } = pageOf(
			[...guild.members.cache.values()],
			after,
			limit,
		);
		return [
			shown.length > 0
				? `${shown.length} of ${guild.members.cache.size} member(s):`
				: `No member has an id above ${after}.`,
			...shown.map(memberLine),
			...stillLoading(guild, connection),
			...next,
		];
	},
});

function memberLine(member: GuildMember): string {
	return `${describe(member)} | roles: ${roleIds(member)} | joined: ${time(member.joinedAt)}`;
}

/** The first members after an id, in the order of their ids, and the line that says where the next page begins. */
export function pageOf(
	members: readonly GuildMember[],
	after: string | undefined,
	limit: number,
): { shown: GuildMember[]; next: string[] } {
	const rest = members
		.filter(({ id }) => after === undefined || compareIds(id, after) > 0)
		.sort((a, b) => compareIds(a.id, b.id));
	const shown = rest.slice(0, limit);
	const last = shown.at(-1);
	return {
		shown,
		next: last && rest.length > limit ? [`next_after=${last.id}`] : [],
	};
}

/** The ids of a member's roles; everyone has the one that is called like the guild. */
function roleIds(member: GuildMember): string {
	const ids = [...member.roles.cache.keys()].filter(
		(id) => id !== member.guild.id,
	);
	return ids.sort(compareIds).join(", ") || "none";
}

/** A line that says so while not all members are known. */
export function stillLoading(guild: Guild, connection: Connection): string[] {
	if (connection.knowsMembers(guild)) return [];
	return [
		`The members are still being loaded (${guild.members.cache.size} of ${guild.memberCount}): some are missing here. Call again in a moment.`,
	];
}

export const lookupUserByName = tool({
	name: "lookup_user_by_name",
	toolset: "core",
	title: "Look up a user by name",
	description:
		"Find members by part of a nickname, display name or username, ignoring case and accents; the best matches first.",
	effect: "read",
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
		const found = memberIndex(guild).find(foldedName(query), limit);
		const shown = membersOf(guild, found.ids);
		const lines =
			found.total === 0
				? [`No member's name contains "${oneField(query)}".`]
				: [
						shown.length < found.total
							? `${found.total} match(es), the first ${shown.length}:`
							: `${found.total} match(es):`,
						...shown.map(describe),
					];
		return [...lines, ...stillLoading(guild, connection)];
	},
});

/** What is looked for in names. Throws an RpcError where nothing of it is left. */
function foldedName(query: string): string {
	const wanted = fold(query.replace(/^@(?=.)/, ""));
	if (wanted === "")
		throw invalidParameters(["query: expected more than accents"]);
	return wanted;
}

const memberFilters = {
	query: v.optional(
		text(1, 100, "What a nickname, display name or username begins with."),
	),
	role_id: v.optional(found(role, "role")),
	joined_before: v.optional(moment("Only who joined before")),
	joined_after: v.optional(moment("Only who joined after")),
	is_bot: v.optional(flag("Only bots; false: only people.")),
};

export const searchMembers = tool({
	name: "search_members",
	toolset: "core",
	extra: true,
	title: "Search members",
	description:
		"List the members who fit all that is given, by id: names, id, role ids, when they joined. Takes at least one filter.",
	effect: "read",
	intents: ["GuildMembers"],
	input: v.strictObject({
		guild_id,
		...memberFilters,
		limit: limit(1000, 100),
		after: v.optional(snowflake("last member of the page before")),
	}),
	run(args, { guild, connection }) {
		const { query, role_id, joined_before, joined_after, is_bot } = args;
		const keys = Object.keys(memberFilters) as (keyof typeof memberFilters)[];
		if (keys.every((key) => args[key] === undefined))
			throw invalidParameters([
				`${keys.join(", ")}: expected at least one of these; list_members lists everyone`,
			]);
		const candidates =
			query === undefined
				? [...guild.members.cache.values()]
				: membersOf(guild, memberIndex(guild).findByPrefix(foldedName(query)));
		const since = timeOf(joined_after);
		const until = timeOf(joined_before);
		const matches = candidates.filter((member) => {
			const { user, roles, joinedTimestamp: joined } = member;
			return (
				(role_id === undefined || roles.cache.has(role_id)) &&
				(is_bot === undefined || user.bot === is_bot) &&
				(since === undefined || (joined !== null && joined >= since)) &&
				(until === undefined || (joined !== null && joined < until))
			);
		});
		const { shown, next } = pageOf(matches, args.after, args.limit);
		return [
			shown.length > 0
				? `${shown.length} of ${matches.length} member(s) that fit, by id:`
				: `No member${args.after ? ` with an id above ${args.after}` : ""} fits.`,
			...shown.map(memberLine),
			...stillLoading(guild, connection),
			...next,
		];
	},
});

/** A moment in milliseconds since 1970. */
function timeOf(at: Moment | undefined): number | undefined {
	return at && SnowflakeUtil.timestampFrom(at.first);
}

export const getMember = tool({
	name: "get_member",
	toolset: "core",
	title: "Get a member",
	description:
		"A member's names, dates, time-out, boost, roles from the highest down, and permissions in the guild.",
	effect: "read",
	input: v.strictObject({ guild_id, user_id: found(member, "member") }),
	run(_, { guild, user: member }) {
		const { user, nickname, communicationDisabledUntil: until } = member;
		const roles = [...member.roles.cache.values()]
			.filter(({ id }) => id !== guild.id)
			.sort((a, b) => b.comparePositionTo(a));
		const marks = [
			...(user.id === guild.ownerId ? ["owner of the guild"] : []),
			...(user.bot ? ["bot"] : []),
			...(member.pending ? ["has not yet accepted the rules"] : []),
		];
		return [
			memberName(member),
			`Nickname: ${nickname ? oneField(nickname) : "none"}`,
			`Display name outside: ${user.globalName ? oneField(user.globalName) : "none"}`,
			`Is: ${marks.join(", ") || "a member"}`,
			`Joined: ${time(member.joinedAt)}`,
			`Registered: ${time(user.createdAt)}`,
			`Timed out until: ${member.isCommunicationDisabled() ? time(until) : "not timed out"}`,
			`Boosts since: ${member.premiumSince ? time(member.premiumSince) : "does not boost"}`,
			`May in the guild: ${describeBits(member.permissions.bitfield)}`,
			`${roles.length} role(s), the highest first:`,
			...roles.map(roleName),
		];
	},
});

export const setNickname = tool({
	name: "set_nickname",
	toolset: "moderation",
	title: "Set a nickname",
	description:
		"Set what a member or the bot is called; without `nickname`, or with an empty one, their own name counts again.",
	effect: "write",
	idempotent: true,
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
		const called = (name: string) =>
			name === "" ? "no nickname" : `the nickname "${oneField(name)}"`;
		if (before === nickname)
			throw new ToolError(
				`Nothing would change: ${memberName(member)} has ${called(before)} already. Nothing was done.`,
			);
		const nick = nickname || null;
		const { members } = guild;
		const isBot = member.id === guild.client.user.id;
		const edited = await (isBot
			? members.editMe({ nick })
			: members.edit(member.id, { nick }));
		// An empty answer (204) does not say how Discord writes it.
		const now = edited.nickname ?? "";
		return `${memberName(edited)} now has ${called(now === before ? nickname : now)}, and had ${called(before)}.`;
	},
});

export function describe({ displayName, user, id }: GuildMember): string {
	return `${oneField(displayName)} (@${oneField(user.username)}) | ID: ${id}`;
}
