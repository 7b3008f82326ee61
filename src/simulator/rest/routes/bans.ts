// Bans: listing, reading, banning one or many, unbanning.

import {
	RESTJSONErrorCodes as Code,
	PermissionFlagsBits as Permission,
} from "discord.js";
import type { Ban } from "../../world/state/entities.ts";
import { isAboveMember } from "../../world/state/permissions.ts";
import { compareIds } from "../../world/state/snowflake.ts";
import { apiError } from "../errors.ts";
import * as f from "../fields.ts";
import { type Call, guildOf, param, route } from "../route.ts";

const daySeconds = 24 * 60 * 60;
const bulkLimit = 200;

function banOf(call: Call): Ban {
	const ban = guildOf(call).bans.get(param(call, "user_id"));
	if (!ban) throw apiError(Code.UnknownBan);
	return ban;
}

export const banRoutes = [
	route({
		method: "GET",
		path: "/guilds/:guild_id/bans",
		needs: Permission.BanMembers,
		query: {
			limit: f.integer(1, 1000),
			before: f.snowflake,
			after: f.snowflake,
		},
		run: (call) => {
			const { limit = 1000, before, after } = call.query;
			const bans = [...guildOf(call).bans.values()].sort((a, b) =>
				compareIds(a.user.id, b.user.id),
			);
			if (before !== undefined)
				return bans
					.filter(({ user }) => compareIds(user.id, before) < 0)
					.slice(-limit);
			return bans
				.filter(({ user }) => compareIds(user.id, after ?? "0") > 0)
				.slice(0, limit);
		},
	}),
	route({
		method: "GET",
		path: "/guilds/:guild_id/bans/:user_id",
		needs: Permission.BanMembers,
		run: banOf,
	}),
	route({
		method: "PUT",
		path: "/guilds/:guild_id/bans/:user_id",
		needs: Permission.BanMembers,
		body: {
			delete_message_seconds: f.nullable(f.integer(0, 7 * daySeconds)),
			delete_message_days: f.nullable(f.integer(0, 7)),
		},
		run: (call) => {
			const { world, actor, body, by } = call;
			const guild = guildOf(call);
			const user = world.users.get(param(call, "user_id"));
			if (!user) throw apiError(Code.UnknownUser);
			const member = guild.members.get(user.id);
			if (member && !isAboveMember(guild, actor.user.id, member))
				throw apiError(Code.MissingPermissions);
			const seconds =
				body.delete_message_seconds ??
				(body.delete_message_days ?? 0) * daySeconds;
			world.bans.add(guild, user, seconds, by);
		},
	}),
	route({
		method: "POST",
		path: "/guilds/:guild_id/bulk-ban",
		needs: Permission.BanMembers | Permission.ManageGuild,
		body: {
			user_ids: f.required(f.list(f.snowflake, 1, bulkLimit)),
			delete_message_seconds: f.nullable(f.integer(0, 7 * daySeconds)),
		},
		run: (call) => {
			const { world, actor, body, by } = call;
			const guild = guildOf(call);
			// The bot itself is skipped without an error.
			const userIds = [...new Set(body.user_ids)].filter(
				(id) => id !== undefined && id !== actor.user.id,
			) as string[];
			const users = userIds.flatMap((id) => world.users.get(id) ?? []);
			const banned = users.filter(({ id }) => {
				const member = guild.members.get(id);
				return (
					!guild.bans.has(id) &&
					(!member || isAboveMember(guild, actor.user.id, member))
				);
			});
			if (banned.length === 0) throw apiError(Code.FailedToBanUsers);
			for (const user of banned)
				world.bans.add(guild, user, body.delete_message_seconds ?? 0, by);
			const banned_users = banned.map(({ id }) => id);
			return {
				banned_users,
				failed_users: userIds.filter((id) => !banned_users.includes(id)),
			};
		},
	}),
	route({
		method: "DELETE",
		path: "/guilds/:guild_id/bans/:user_id",
		needs: Permission.BanMembers,
		run: (call) => {
			const ban = banOf(call);
			call.world.bans.remove(guildOf(call), ban, call.by);
		},
	}),
];
