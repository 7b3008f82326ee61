// Incident actions: disabled invites and DMs. They are stored and have no effect.
// https://discord.com/developers/docs/resources/guild#modify-guild-incident-actions
//
// A gap: Incident actions are stored and dispatched; only paused invites have an effect: none is created (204), and
// nobody joins.

import { formError } from "../errors.ts";
import { nullable, timestamp } from "../fields/fields.ts";
import { route } from "../route.ts";

// A minute of tolerance for clock differences.
const longestMs = 24 * 60 * 60 * 1000 + 60_000;

const fields = { invites_disabled_until: nullable(timestamp), dms_disabled_until: nullable(timestamp) };

export const incidentRoutes = [
	route("PUT /guilds/:guild_id/incident-actions", {
		needs: "ManageGuild",
		body: fields,
		run: (call) => {
			const { guild, body, world } = call;
			const until = (field: keyof typeof fields) => {
				const at = body[field];
				if (at && Date.parse(at) > Date.now() + longestMs)
					throw formError("INCIDENT_ACTION_TOO_LONG", "Must be 24 hours or fewer from now.", field);
				return at === undefined ? (guild.incidents_data?.[field] ?? null) : at;
			};
			const incidents_data = {
				invites_disabled_until: until("invites_disabled_until"),
				dms_disabled_until: until("dms_disabled_until"),
			};
			world.guilds.edit(guild, { incidents_data });
			return incidents_data;
		},
	}),
];
