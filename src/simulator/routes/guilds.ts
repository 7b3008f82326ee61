// A guild as a whole.

import { boolean } from "../fields.ts";
import * as present from "../present.ts";
import { guildOf, route } from "../route.ts";

export const guildRoutes = [
	route({
		method: "GET",
		path: "/guilds/:guild_id",
		query: { with_counts: boolean },
		run: (call) => {
			const guild = guildOf(call);
			return {
				...present.guild(guild),
				...(call.query.with_counts ? present.guildCounts(guild) : {}),
			};
		},
	}),
];
