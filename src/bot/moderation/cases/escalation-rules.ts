// Decides which escalation rule (setting `moderation.escalate`) applies because of a new case.

import type { Sql } from "../../../lib/store/statement.ts";
import type { EscalationRule } from "../../config/escalation.ts";
import { type CaseRow, countCasesSince } from "../../store/tables/cases.ts";

/** The most severe one whose number the person's cases reach with the case `row`. Not again above that number. */
export async function crossedRule(
	sql: Sql,
	row: CaseRow,
	rules: readonly EscalationRule[],
	now: number,
	countsAutomod: boolean,
): Promise<EscalationRule | undefined> {
	const crossed: EscalationRule[] = [];
	for (const rule of rules) {
		const from = now - rule.windowMs;
		const ofAutomod = countsAutomod && rule.actions.some((one) => one === "warn") ? (["automod"] as const) : [];
		const actions = [...rule.actions, ...ofAutomod];
		if (!actions.some((one) => one === row.action) || row.created_at < from) continue;
		let count = 0;
		for (const action of actions) count += await countCasesSince(sql, row.guild_id, row.user_id ?? "", action, from);
		if (count === rule.count) crossed.push(rule);
	}
	return crossed.toSorted(bySeverity)[0];
}

const severities = { timeout: 1, kick: 2, ban: 3 } as const;

function bySeverity(a: EscalationRule, b: EscalationRule): number {
	const lengthOf = ({ durationMs }: EscalationRule) => durationMs ?? Number.MAX_SAFE_INTEGER;
	return severities[b.action] - severities[a.action] || lengthOf(b) - lengthOf(a);
}
