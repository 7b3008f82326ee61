// Bans: listing, reading, banning one or many, unbanning.

import type { Ban } from "../../world/state/entities.ts";
import { isAboveMember } from "../../world/state/permissions.ts";
import { requireAbove } from "../access.ts";
import { apiError, found } from "../errors.ts";
import { integer, list, pageById, required, snowflake } from "../fields/fields.ts";
import { type Call, route } from "../route.ts";

const all = "/guilds/:guild_id/bans";
const one = `${all}/:user_id` as const;
const daySeconds = 24 * 60 * 60;
const bulkLimit = 200;

function banOf({ guild, params }: Call<typeof one>): Ban {
	return found(guild.bans.get(params.user_id), "UnknownBan");
}

export const banRoutes = [
	route(`GET ${all}`, {
		needs: "BanMembers",
		query: { limit: integer(1, 1000), before: snowflake, after: snowflake },
		run: ({ guild, query }) => pageById(guild.bans.values(), ({ user }) => user.id, query, 1000),
	}),
	route(`GET ${one}`, { needs: "BanMembers", run: banOf }),
	route(`PUT ${one}`, {
		needs: "BanMembers",
		body: { delete_message_seconds: integer(0, 7 * daySeconds), delete_message_days: integer(0, 7) },
		// Undocumented: discord.py sends it here (http.py, ban).
		query: { delete_message_seconds: integer(0, 7 * daySeconds) },
		run: (call) => {
			const { world, body, query, by, guild } = call;
			const user = found(world.users.get(call.params.user_id), "UnknownUser");
			const member = guild.members.get(user.id);
			if (member) requireAbove(call, member);
			const seconds =
				body.delete_message_seconds ?? query.delete_message_seconds ?? (body.delete_message_days ?? 0) * daySeconds;
			world.bans.add(guild, user, seconds, by);
		},
	}),
	route("POST /guilds/:guild_id/bulk-ban", {
		needs: ["BanMembers", "ManageGuild"],
		body: { user_ids: required(list(snowflake, 1, bulkLimit)), delete_message_seconds: integer(0, 7 * daySeconds) },
		run: (call) => {
			const { world, actor, body, by, guild } = call;
			// The bot itself is skipped without an error.
			const userIds = [...new Set(body.user_ids)].filter((id) => id !== actor.user.id);
			const users = userIds.flatMap((id) => world.users.get(id) ?? []);
			const banned = users.filter(({ id }) => {
				const member = guild.members.get(id);
				return !guild.bans.has(id) && (!member || isAboveMember(guild, actor.user.id, member));
			});
			if (banned.length === 0) throw apiError("FailedToBanUsers");
			for (const user of banned) world.bans.add(guild, user, body.delete_message_seconds ?? 0, by);
			const banned_users = banned.map(({ id }) => id);
			return { banned_users, failed_users: userIds.filter((id) => !banned_users.includes(id)) };
		},
	}),
	route(`DELETE ${one}`, {
		needs: "BanMembers",
		run: (call) => {
			call.world.bans.remove(call.guild, banOf(call), call.by);
		},
	}),
];
