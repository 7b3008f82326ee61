// The rows of src/bot/tools/guild-document.ts, but for those that need a plan or a job.

import type { Row } from "./scene.ts";

export const guildDocumentRows: Record<string, Row> = {
	export_guild: {
		ids: {},
		ask: ({ guild }) => ({
			args: { parts: ["roles"] },
			request: `GET /guilds/${guild.id}`,
			answer: ['"roles":[{"name":"', '{"name":"Staff","id":"'],
		}),
		needs: "no permission",
	},
	plan_guild: {
		ids: {},
		ask: ({ guild }) => ({
			args: { document: { channels: [{ name: "planned" }] } },
			request: `GET /guilds/${guild.id}`,
			answer: ["+ channel #planned", "plan_hash="],
		}),
		needs: "no permission",
	},
	get_job: { ids: {}, args: () => ({}), answer: () => ["No job has run in"] },
	list_backups: { ids: {}, args: () => ({}), answer: () => ["There is no backup of"] },
};

/** Tools without a row: they only work with a plan or job, which guild-document.test.ts makes. */
export const toolsOfPlans = ["apply_guild", "cancel_job"];
