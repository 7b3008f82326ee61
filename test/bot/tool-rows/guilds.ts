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
};
