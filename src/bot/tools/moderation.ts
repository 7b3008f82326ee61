// Bans and kicks.

import {
	type APIBan,
	type Guild,
	type GuildBan,
	type GuildMember,
	makeURLSearchParams,
	RESTJSONErrorCodes,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { invalidParameters, ToolError } from "../../mcp/tool.ts";
import {
	memberFields,
	memberName,
	nowIs,
	userFields,
	userName,
} from "../discord/describe.ts";
import { absentIf, member, person } from "../discord/find.ts";
import { fold, oneField, resultLines } from "../discord/text.ts";
import {
	bansAmong,
	countDeletedMessages,
	memberLine,
	readBans,
} from "../guild/bans.ts";
import {
	idsOf,
	memberOrAbsent,
	membersAmong,
} from "../guild/several-members.ts";
import {
	found,
	guild_id,
	integer,
	limit,
	list,
	reason,
	requireOneOf,
	snowflake,
	text,
} from "../tool/arguments.ts";
import { writeEach } from "../tool/bulk.ts";
import { destructiveTool, editTool, readTool } from "../tool/define.ts";

const daySeconds = 86_400;

export const ban = destructiveTool({
	name: "ban",
	toolset: "moderation",
	aliases: ["ban_member"],
	title: "Ban a user",
	description:
		"Ban a user, member or not, and optionally delete their recent messages.",
	permissions: ["BanMembers"],
	ranked: true,
	// Of two calls at once, the second finds the user already banned.
	lock: "user_id",
	input: v.strictObject({
		guild_id,
		user_id: found(person, "user"),
		delete_message_seconds: v.optional(
			integer(
				0,
				7 * daySeconds,
				"Seconds of their messages to delete, up to 7 days.",
			),
		),
		delete_message_days: v.optional(
			integer(0, 7, "The same in days; give one of the two."),
		),
		reason,
	}),
	async plan(args, { guild, user: { user, member } }) {
		const { delete_message_seconds: seconds, delete_message_days: days } = args;
		if (seconds !== undefined && days !== undefined)
			throw invalidParameters([
				"delete_message_seconds, delete_message_days: expected at most one of the two",
			]);
		const name = member ? memberName(member) : userName(user);
		if (await banOf(guild, user.id))
			throw new ToolError(
				`${name} is already banned from the guild. Nothing was done.`,
			);
		const deleteMessageSeconds = seconds ?? (days ?? 0) * daySeconds;
		const messages =
			deleteMessageSeconds > 0 &&
			(await countDeletedMessages(guild, [user.id], deleteMessageSeconds));
		const deleted = messages ? `, and delete ${messages}` : "";
		return {
			preview: [
				`Would ban ${name}${member ? "" : ", who is not a member"}${deleted}.`,
				...(member ? [`${memberLine(member)} | ${nowIs()}`] : []),
			],
			write: () => guild.bans.create(user.id, { deleteMessageSeconds }),
			result: `Banned ${name}.${messages ? ` Before, they had ${messages}, which Discord deletes.` : ""}`,
		};
	},
});

/** Fetches a user's ban from Discord. Returns undefined if the user is not banned. */
function banOf(guild: Guild, id: string): Promise<GuildBan | undefined> {
	return absentIf([RESTJSONErrorCodes.UnknownBan], () =>
		guild.bans.fetch({ user: id, force: true }),
	);
}

export const unban = editTool({
	name: "unban",
	toolset: "moderation",
	aliases: ["unban_member"],
	title: "Lift bans",
	description: "Lift a user's ban, or those of several users.",
	permissions: ["BanMembers"],
	lock: idsOf,
	input: v.strictObject({
		guild_id,
		user_id: v.optional(snowflake("banned user")),
		user_ids: v.optional(list(snowflake("user"), 1, 200, "Several users.")),
		reason,
	}),
	async run(args, { guild }, call) {
		requireOneOf(args, ["user_id", "user_ids"]);
		const { user_id } = args;
		const user_ids = idsOf(args);
		if (user_id !== undefined && user_ids.length === 1) {
			const ban = await banOf(guild, user_id);
			if (!ban)
				throw new ToolError(
					`The user ${user_id} is not banned from the guild ${guild.id}. Nothing was done; get_bans lists the bans.`,
				);
			await guild.bans.remove(user_id);
			return `Lifted the ban of ${userName(ban.user)}.`;
		}
		const { banned, isComplete } = await bansAmong(guild, user_ids);
		if (!isComplete)
			throw new ToolError(
				`The guild ${guild.id} has too many bans to find these ones. Nothing was done; pass fewer user_ids, or one as user_id.`,
			);
		const others = user_ids.filter((id) => !banned.has(id));
		if (banned.size === 0)
			throw new ToolError(
				`None of these users is banned from the guild ${guild.id}. Nothing was done; get_bans lists the bans.`,
			);
		const result = await writeEach(
			{
				items: [...banned.values()],
				resumes: true,
				idOf: ({ user }) => user.id,
				describe: ({ user }) => userFields(user),
				write: ({ user }) => guild.bans.remove(user.id),
				done: (count, of) => `Lifted ${count} of ${of} ban(s):`,
			},
			call,
		);
		return resultLines(
			result,
			others.length > 0 && `${others.length} not banned: ${others.join(", ")}`,
		);
	},
});

export const getBans = readTool({
	name: "get_bans",
	toolset: "moderation",
	title: "Get bans",
	description: "List bans with reasons, by user id, or search them by name.",
	permissions: ["BanMembers"],
	input: v.strictObject({
		guild_id,
		query: v.optional(
			text(1, 100, "Part of a name, ignoring case and accents."),
		),
		limit: limit(1000, 100),
		after: v.optional(snowflake("previous page's last user")),
	}),
	async run({ query, limit, after }, { discord, guild }) {
		const beyond = after ? ` with an id above ${after}` : "";
		if (query === undefined) {
			const bans = (await discord.rest.get(Routes.guildBans(guild.id), {
				query: makeURLSearchParams({ limit, after }),
			})) as APIBan[];
			const last = bans.at(-1);
			if (!last) return `Nobody${beyond} is banned from the guild ${guild.id}.`;
			return [
				`${bans.length} ban(s), by user id:`,
				...bans.map(banLine),
				...(bans.length === limit ? [`next_after=${last.user.id}`] : []),
			];
		}
		const { bans, isComplete } = await readBans(guild, after);
		const part = fold(query);
		const found = bans.filter(({ user }) =>
			[user.username, user.global_name].some(
				(name) => name && fold(name).includes(part),
			),
		);
		const shown = found.slice(0, limit);
		// Where more than `limit` match, the next page begins after the last one shown.
		const next = found.length > limit ? shown.at(-1) : bans.at(-1);
		return resultLines(
			`${found.length} of ${bans.length} ban(s)${beyond} match, by user id${shown.length < found.length ? `; the first ${shown.length}` : ""}:`,
			shown.map(banLine),
			(found.length > limit || !isComplete) &&
				next &&
				`next_after=${next.user.id}`,
		);
	},
});

function banLine({ user, reason }: APIBan): string {
	const { username, global_name } = user;
	const name =
		global_name && global_name !== username ? `${oneField(global_name)} ` : "";
	const names = name
		? `${name}(@${oneField(username)})`
		: `@${oneField(username)}`;
	return `${names} | ID: ${user.id} | ${reason ? `reason: ${oneField(reason)}` : "no reason given"}`;
}

export const kick = destructiveTool({
	name: "kick",
	toolset: "moderation",
	aliases: ["kick_member"],
	title: "Kick members",
	description:
		"Remove a member, or several. They lose their roles and can rejoin with an invite; ban keeps them out.",
	permissions: ["KickMembers"],
	ranked: true,
	lock: idsOf,
	idempotent: false,
	input: v.strictObject({
		guild_id,
		user_id: v.optional(found(member, "member")),
		user_ids: v.optional(
			list(found(memberOrAbsent, "member"), 1, 200, "Several members."),
		),
		reason,
	}),
	plan(args, { guild, user, users }) {
		requireOneOf(args, ["user_id", "user_ids"]);
		const remove = ({ id }: GuildMember) =>
			guild.client.rest.delete(Routes.guildMember(guild.id, id));
		if (user && !users) {
			const name = memberName(user);
			const roles = user.roles.cache.size - 1;
			return {
				preview: `Would kick ${name}, who has ${roles} role(s).`,
				write: () => remove(user),
				result: `Kicked ${name}.`,
			};
		}
		const { members, absent } = membersAmong(guild, user, users ?? []);
		return {
			preview: resultLines(
				`Would kick ${members.length} member(s); ${nowIs()}:`,
				members.map(memberLine),
				absent,
			),
			act: async (call) =>
				resultLines(
					await writeEach(
						{
							items: members,
							resumes: true,
							idOf: ({ id }) => id,
							describe: memberFields,
							write: remove,
							done: (count, of) => `Kicked ${count} of ${of} member(s):`,
						},
						call,
					),
					absent,
				),
		};
	},
});
