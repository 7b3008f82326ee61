// Table "asked_plans": changes that AI chat has planned and that wait for a press by who asked. A press takes the row, so that a
// plan runs at most once.

import type { RowOf } from "../../../lib/store/row.ts";
import { rowsOf } from "../../../lib/store/statement.ts";

/** Times are in epoch milliseconds. `calls`: JSON. `link`: address of the question. `answer_id`: message of its answer, or "". */
export type AskedPlan = RowOf<typeof askedPlansTable, "asked_plans">;

export const askedPlansTable = `
	CREATE TABLE asked_plans (
		id TEXT NOT NULL PRIMARY KEY,
		guild_id TEXT NOT NULL,
		person_id TEXT NOT NULL,
		link TEXT NOT NULL,
		answer_id TEXT NOT NULL,
		calls TEXT NOT NULL,
		expires_at BIGINT NOT NULL
	)`;

export const askedPlanRows = rowsOf<AskedPlan, "id">("asked_plans", ["id"]);
