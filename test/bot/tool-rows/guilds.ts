// The rows of src/bot/tools/guilds.ts.

import type { Row } from "./scene.ts";

export const guildsRows: Record<string, Row> = {
	list_guilds: {
		effect: "reads",
		ids: {},
		args: () => ({}),
		answer: ({ guild, other }) => [
			"2 guild(s):",
			`${guild.name} | ID: ${guild.id}`,
			`${other.name} | ID: ${other.id}`,
		],
	},
	get_guild_info: {
		effect: "asks",
		ids: {},
		ask: ({ guild }) => ({
			args: {},
			request: `GET /guilds/${guild.id}`,
			answer: [
				`${guild.name} (ID: ${guild.id})`,
				`members: ${guild.members.size}, about ${guild.members.size} of them online`,
				`channels: ${guild.channels.size}, `,
				`roles: ${guild.roles.size}, `,
			],
		}),
		needs: "no permission",
	},
};
