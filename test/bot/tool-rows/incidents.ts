// The rows of src/bot/tools/guild-settings.ts (incident actions).

import * as person from "./person.ts";
import { inGuild, type Row } from "./scene.ts";

/** Two calls in the same millisecond would request the same time. */
let asked = 0;

export const incidentsRows: Record<string, Row> = {
	set_incident_actions: {
		ids: {},
		person: person.inGuild(["ManageGuild"]),
		act({ guild }) {
			asked += 1;
			const until = new Date(Date.now() + 3_600_000 + asked * 1_000).toISOString();
			return {
				args: { dms_disabled_until: until },
				request: `PUT /guilds/${guild.id}/incident-actions`,
				done: () => guild.incidents_data?.dms_disabled_until === until,
			};
		},
		needs: inGuild("ManageGuild"),
		effects: () => ({
			write: [{ invites_disabled_until: "6h" }],
			destructive: [["pauses direct messages", { dms_disabled_until: "6h" }]],
		}),
		refuses: [
			// The row is made when the file is loaded, which may be minutes before its test.
			...[-60_000, 48 * 3_600_000]
				.map((ms) => new Date(Date.now() + ms).toISOString())
				.concat("25h", "tomorrow")
				.map((until) => [{ dms_disabled_until: until }, "dms_disabled_until: expected a"] as const),
			[{ dms_disabled_until: undefined }],
		],
	},
};
