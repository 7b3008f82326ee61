// The rows of src/bot/tools/members.ts.

import { anyId, type Row } from "./scene.ts";

export const membersRows: Record<string, Row> = {
	list_members: {
		effect: "reads",
		ids: { after: anyId("it is a place in the order of ids, and no thing") },
		args: () => ({ limit: 1000 }),
		answer: ({ guild }) => [
			`${guild.members.size} of ${guild.members.size} member(s):`,
			...[...guild.members.keys()].map((id) => `| ID: ${id} |`),
		],
	},
	lookup_user_by_name: {
		effect: "reads",
		ids: {},
		args: () => ({ query: "mona" }),
		answer: ({ world }) => [
			"1 match(es):",
			`MONA LISA (@mona_lisa) | ID: ${world.simulator.user("mona_lisa").id}`,
		],
	},
};
