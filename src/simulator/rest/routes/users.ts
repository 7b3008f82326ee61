// Users, the actor's guilds, and DM channels.

import { guildPermissions } from "../../world/state/permissions.ts";
import * as serialize from "../../world/state/serialize.ts";
import { apiError, found } from "../errors.ts";
import { boolean, integer, pageById, required, snowflake } from "../fields/fields.ts";
import { memberOfActor, route } from "../route.ts";

export const userRoutes = [
	route("GET /users/@me", {
		forApplications: true,
		run: ({ actor, world, byApplication }) => {
			const user = serialize.ownUser(actor, world.users.hasMfa(actor.user));
			if (!byApplication) return user;
			const { email: _email, verified: _verified, ...others } = user;
			return others;
		},
	}),
	route("GET /users/:user_id", ({ world, params }) => found(world.users.get(params.user_id), "UnknownUser")),
	route("GET /users/@me/guilds", {
		query: { before: snowflake, after: snowflake, limit: integer(1, 200), with_counts: boolean },
		run: ({ world, actor, query }) => {
			const own = [...world.guilds.values()].filter(({ members }) => members.has(actor.user.id));
			return pageById(own, ({ id }) => id, query, 200).map((guild) => ({
				id: guild.id,
				name: guild.name,
				icon: guild.icon,
				banner: null,
				owner: guild.owner_id === actor.user.id,
				permissions: String(guildPermissions(guild, actor.user.id)),
				features: guild.features,
				...(query.with_counts && serialize.guildCounts(guild)),
			}));
		},
	}),
	route("DELETE /users/@me/guilds/:guild_id", (call) => {
		const { guild } = call;
		if (guild.owner_id === call.actor.user.id)
			throw apiError("InvalidGuild", { message: "Owners cannot leave their guild" });
		call.world.members.remove(guild, memberOfActor(call));
	}),
	route("POST /users/@me/channels", {
		body: { recipient_id: required(snowflake) },
		run: ({ world, actor, body, skipJournal }) => {
			const other = found(world.users.get(body.recipient_id), "UnknownUser");
			if (other === actor.user) throw apiError("InvalidRecipients");
			const known = world.channels.findDm(actor.user, other);
			if (known) skipJournal();
			return serialize.channel(known ?? world.channels.openDm(actor.user, other), actor);
		},
	}),
];
