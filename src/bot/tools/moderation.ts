// Bans and kicks.

import {
	type APIBan,
	type Guild,
	type GuildBan,
	makeURLSearchParams,
	RESTJSONErrorCodes,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { invalidParameters, ToolError } from "../../mcp/tool.ts";
import { memberName, userFields, userName } from "../discord/describe.ts";
import { absentIf, member, person } from "../discord/find.ts";
import { oneField } from "../discord/text.ts";
import {
	found,
	guild_id,
	integer,
	limit,
	reason,
	snowflake,
} from "../tool/arguments.ts";
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
		const deleted =
			deleteMessageSeconds > 0
				? `, and delete their messages of the last ${deleteMessageSeconds} seconds`
				: "";
		const note = member ? "" : ", who is not a member";
		return {
			preview: `Would ban ${name}${note}${deleted}.`,
			write: () => guild.bans.create(user.id, { deleteMessageSeconds }),
			result: `Banned ${name}.`,
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
	title: "Lift a ban",
	description: "Lift a user's ban from a guild, so that they can join again.",
	permissions: ["BanMembers"],
	lock: "user_id",
	input: v.strictObject({
		guild_id,
		user_id: snowflake("banned user"),
		reason,
	}),
	async run({ user_id }, { guild }) {
		const ban = await banOf(guild, user_id);
		if (!ban)
			throw new ToolError(
				`The user ${user_id} is not banned from the guild ${guild.id}. Nothing was done; get_bans lists the bans.`,
			);
		await guild.bans.remove(user_id);
		return `Lifted the ban of ${userName(ban.user)}.`;
	},
});

export const getBans = readTool({
	name: "get_bans",
	toolset: "moderation",
	title: "Get bans",
	description: "List bans by user id, with reasons.",
	permissions: ["BanMembers"],
	input: v.strictObject({
		guild_id,
		limit: limit(1000, 100),
		after: v.optional(snowflake("previous page's last user")),
	}),
	async run({ limit, after }, { discord, guild }) {
		const bans = (await discord.rest.get(Routes.guildBans(guild.id), {
			query: makeURLSearchParams({ limit, after }),
		})) as APIBan[];
		const last = bans.at(-1);
		if (!last)
			return `Nobody${after ? ` with an id above ${after}` : ""} is banned from the guild ${guild.id}.`;
		return [
			`${bans.length} ban(s), by user id:`,
			...bans.map(
				({ user, reason }) =>
					`${userFields(user)} | ${reason ? `reason: ${oneField(reason)}` : "no reason given"}`,
			),
			...(bans.length === limit ? [`next_after=${last.user.id}`] : []),
		];
	},
});

export const kick = destructiveTool({
	name: "kick",
	toolset: "moderation",
	aliases: ["kick_member"],
	title: "Kick a member",
	description:
		"Remove a member from a guild. They lose their roles and can rejoin with an invite; ban keeps them out.",
	permissions: ["KickMembers"],
	ranked: true,
	lock: "user_id",
	idempotent: false,
	input: v.strictObject({ guild_id, user_id: found(member, "member"), reason }),
	plan(_, { guild, user }) {
		const name = memberName(user);
		const roles = user.roles.cache.size - 1;
		return {
			preview: `Would kick ${name}, who has ${roles} role(s).`,
			write: () =>
				guild.client.rest.delete(Routes.guildMember(guild.id, user.id)),
			result: `Kicked ${name}.`,
		};
	},
});
