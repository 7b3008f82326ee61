// The rows of src/bot/tools/audit.ts.

import type { Row } from "./scene.ts";

export const auditRows: Record<string, Row> = {
	list_recent_tool_calls: {
		effect: "reads",
		ids: {},
		args: () => ({ before: "2000-01-01T00:00:00Z" }),
		answer: () => ["No call of a tool is on record that matches."],
	},
};
