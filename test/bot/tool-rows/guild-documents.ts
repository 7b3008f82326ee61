// The rows of src/bot/tools/guild-document.ts, but for those that need a plan or a job.

import * as person from "./person.ts";
import { type Row, roleId } from "./scene.ts";

export const guildDocumentRows: Record<string, Row> = {
	export_guild: {
		ids: {},
		person: person.administrator,
		ask: ({ guild }) => ({
			args: { parts: ["roles"] },
			request: `GET /guilds/${guild.id}`,
			answer: ['"roles":[{"name":"', '{"name":"Staff","id":"'],
		}),
		needs: "no permission",
	},
	compare_guilds: {
		ids: {
			with: {
				unknown: "not in a guild",
				foreign: { id: ({ guild }) => guild.id, refusal: "expected another guild", refusedBy: "the bot" },
			},
		},
		person: person.administrator,
		ask: ({ guild }) => ({
			args: { parts: ["roles"] },
			request: `GET /guilds/${guild.id}`,
			answer: ['"roles":[{"name":"', '{"name":"Staff","id":"'],
		}),
		needs: "no permission",
	},
	plan_guild: {
		ids: {},
		person: person.administrator,
		ask: ({ guild }) => ({
			args: { document: { channels: [{ name: "planned" }] } },
			request: `GET /guilds/${guild.id}`,
			answer: ["+ channel #planned", "plan_hash="],
		}),
		needs: "no permission",
	},
	rehearse: {
		ids: { role_ids: roleId },
		person: person.administrator,
		ask: ({ guild }) => ({
			args: { scenario: "member" },
			request: `GET /guilds/${guild.id}`,
			answer: ["Rehearsal of member on a copy", " members rank below them."],
		}),
		needs: "no permission",
	},
	get_job: { ids: {}, person: person.administrator, args: () => ({}), answer: () => ["No job has run in"] },
	list_backups: { ids: {}, person: person.administrator, args: () => ({}), answer: () => ["There is no backup of"] },
};

/** Tools that need a plan or a job, with which guild-document.test.ts tries the rest. */
export const toolsOfPlans: Record<string, Pick<Row, "person">> = {
	apply_guild: { person: person.administrator },
	undo_actions: { person: person.administrator },
	cancel_job: { person: person.administrator },
};
