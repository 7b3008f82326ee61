// The rows of src/bot/tools/incidents.ts.

import type { Row } from "./scene.ts";

/** Two of the same millisecond would ask for the same. */
let asked = 0;

export const incidentsRows: Record<string, Row> = {
	set_incident_actions: {
		effect: "writes",
		ids: {},
		act({ guild }) {
			asked += 1;
			const until = new Date(
				Date.now() + 3_600_000 + asked * 1_000,
			).toISOString();
			return {
				args: { invites_disabled_until: until },
				request: `PUT /guilds/${guild.id}/incident-actions`,
				done: () => guild.incidents_data?.invites_disabled_until === until,
			};
		},
		reason: "Discord takes none",
		needs: { permission: "ManageGuild", name: "MANAGE_GUILD", in: "the guild" },
		dryRun: "not destructive",
	},
};
