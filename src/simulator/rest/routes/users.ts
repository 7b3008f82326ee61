// Users, the actor's guilds, and DM channels.

import { RESTJSONErrorCodes as Code } from "discord.js";
import { guildPermissions } from "../../world/state/permissions.ts";
import * as serialize from "../../world/state/serialize.ts";
import { compareIds } from "../../world/state/snowflake.ts";
import { apiError } from "../errors.ts";
import { boolean, integer, required, snowflake } from "../fields.ts";
import { guildOf, memberOfActor, param, route } from "../route.ts";

export const userRoutes = [
	route({
		method: "GET",
		path: "/users/@me",
		run: ({ actor }) => serialize.ownUser(actor),
	}),
	route({
		method: "GET",
		path: "/users/:user_id",
		run: (call) => {
			const user = call.world.users.get(param(call, "user_id"));
			if (!user) throw apiError(Code.UnknownUser);
			return user;
		},
	}),
	route({
		method: "GET",
		path: "/users/@me/guilds",
		query: {
			before: snowflake,
			after: snowflake,
			limit: integer(1, 200),
			with_counts: boolean,
		},
		run: ({ world, actor, query }) => {
			const { before, after, limit = 200, with_counts } = query;
			const guilds = [...world.guilds.values()]
				.filter((guild) => guild.members.has(actor.user.id))
				.sort((a, b) => compareIds(a.id, b.id))
				.filter(({ id }) => !after || compareIds(id, after) > 0)
				.filter(({ id }) => !before || compareIds(id, before) < 0);
			const page =
				before && !after ? guilds.slice(-limit) : guilds.slice(0, limit);
			return page.map((guild) => ({
				id: guild.id,
				name: guild.name,
				icon: null,
				banner: null,
				owner: guild.owner_id === actor.user.id,
				permissions: String(guildPermissions(guild, actor.user.id)),
				features: [],
				...(with_counts ? serialize.guildCounts(guild) : {}),
			}));
		},
	}),
	route({
		method: "DELETE",
		path: "/users/@me/guilds/:guild_id",
		run: (call) => {
			const guild = guildOf(call);
			if (guild.owner_id === call.actor.user.id)
				throw apiError(Code.InvalidGuild, {
					message: "Owners cannot leave their guild",
				});
			call.world.members.remove(guild, memberOfActor(call));
		},
	}),
	route({
		method: "POST",
		path: "/users/@me/channels",
		body: { recipient_id: required(snowflake) },
		run: ({ world, actor, body, skipJournal }) => {
			const other = world.users.get(body.recipient_id);
			if (!other) throw apiError(Code.UnknownUser);
			if (other === actor.user) throw apiError(Code.InvalidRecipients);
			const known = world.channels.findDm(actor.user, other);
			if (known) skipJournal();
			return serialize.channel(
				known ?? world.channels.openDm(actor.user, other),
				actor,
			);
		},
	}),
];
