// Bans and kicks.

import {
	type APIBan,
	DiscordAPIError,
	type Guild,
	type GuildBan,
	RESTJSONErrorCodes,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { invalidParameters, ToolError } from "../../mcp/tool.ts";
import { memberName, userName } from "../discord/describe.ts";
import { member, person } from "../discord/find.ts";
import { oneField } from "../discord/text.ts";
import {
	found,
	guild_id,
	integer,
	limit,
	reason,
	snowflake,
} from "../tool/arguments.ts";
import { destructiveTool, tool } from "../tool/define.ts";

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
	idempotent: true,
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
	async plan(
		{ delete_message_seconds, delete_message_days },
		{ guild, user: { user, member } },
	) {
		if (
			delete_message_seconds !== undefined &&
			delete_message_days !== undefined
		)
			throw invalidParameters([
				"delete_message_seconds, delete_message_days: expected at most one of the two",
			]);
		const name = member ? memberName(member) : userName(user);
		if (await banOf(guild, user.id))
			throw new ToolError(
				`${name} is already banned from the guild. Nothing was done.`,
			);
		const deleteMessageSeconds =
			delete_message_seconds ?? (delete_message_days ?? 0) * daySeconds;
		const deleted =
			deleteMessageSeconds > 0
				? `, and delete their messages of the last ${deleteMessageSeconds} seconds`
				: "";
		const note = member ? "" : ", who is not a member";
		return {
			preview: `Would ban ${name}${note}${deleted}.`,
			async act() {
				await guild.bans.create(user.id, { deleteMessageSeconds });
				return `Banned ${name}.`;
			},
		};
	},
});

/** A user's ban, fetched from Discord; undefined if the user is not banned. */
async function banOf(guild: Guild, id: string): Promise<GuildBan | undefined> {
	try {
		return await guild.bans.fetch({ user: id, force: true });
	} catch (error) {
		if (
			error instanceof DiscordAPIError &&
			error.code === RESTJSONErrorCodes.UnknownBan
		)
			return undefined;
		throw error;
	}
}

export const unban = tool({
	name: "unban",
	toolset: "moderation",
	aliases: ["unban_member"],
	title: "Lift a ban",
	description: "Lift a user's ban from a guild, so that they can join again.",
	effect: "write",
	permissions: ["BanMembers"],
	lock: "user_id",
	idempotent: true,
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

export const getBans = tool({
	name: "get_bans",
	toolset: "moderation",
	title: "Get bans",
	description: "List bans by user id, with reasons.",
	effect: "read",
	permissions: ["BanMembers"],
	input: v.strictObject({
		guild_id,
		limit: limit(1000, 100),
		after: v.optional(snowflake("previous page's last user")),
	}),
	async run({ limit, after }, { discord, guild }) {
		const query = new URLSearchParams({
			limit: String(limit),
			...(after !== undefined && { after }),
		});
		const bans = (await discord.rest.get(Routes.guildBans(guild.id), {
			query,
		})) as APIBan[];
		const last = bans.at(-1);
		if (!last)
			return after === undefined
				? `Nobody is banned from the guild ${guild.id}.`
				: `Nobody with an id above ${after} is banned from the guild ${guild.id}.`;
		return [
			`${bans.length} ban(s), by user id:`,
			...bans.map(
				({ user, reason }) =>
					`@${oneField(user.username)} | ID: ${user.id} | ${reason ? `reason: ${oneField(reason)}` : "no reason given"}`,
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
	input: v.strictObject({
		guild_id,
		user_id: found(member, "member"),
		reason,
	}),
	plan(_, { guild, user }) {
		const name = memberName(user);
		const roles = user.roles.cache.size - 1;
		return {
			preview: `Would kick ${name}, who has ${roles} role(s).`,
			async act() {
				await guild.client.rest.delete(Routes.guildMember(guild.id, user.id));
				return `Kicked ${name}.`;
			},
		};
	},
});
