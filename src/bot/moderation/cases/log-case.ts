// Writes cases to the moderation log: an entry for each case, and one for each later change of it.

import { countOf } from "../../../discord/text.ts";
import type { CaseEdit } from "../../store/tables/cases.ts";
import type { LogEntry, ModerationLog } from "../moderation-log.ts";
import type { Case } from "./case.ts";
import { actionTitles, describeState, describeTold } from "./case-text.ts";

export function logCase(moderationLog: Pick<ModerationLog, "add">, one: Case): void {
	const { guildId, number, action, userId, moderatorId, client, reason } = one;
	const state = describeState(one);
	const told = describeTold(one.told);
	const { length } = one.messageIds;
	const saysCount = one.detail?.startsWith("messages: ") ?? false;
	const detail = [one.detail, length > 0 && !saysCount && countOf(length, "message")].filter(Boolean).join(", ");
	moderationLog.add(guildId, {
		title: actionTitles[action],
		isFailure: one.state !== "done",
		moderatorId,
		...(userId !== undefined && { userId }),
		action: state ? `${actionTitles[action]}, ${state}` : actionTitles[action],
		...(detail && { detail }),
		...(one.endsAt !== undefined && { until: one.endsAt }),
		reason: reason ?? null,
		...(client !== undefined && { client }),
		...(told !== undefined && { told }),
		channelIds: one.channelIds,
		caseNumber: number,
		confidential: confidentialOf(action),
	});
}

function confidentialOf(action: Case["action"]): LogEntry["confidential"] {
	if (action === "note") return "entry";
	return action === "warn" ? "reason" : undefined;
}

const changeTitles = { reason: "Case changed", delete: "Case deleted", restore: "Case restored" } as const;

/** Writes an entry about the change of a case to the moderation log. `one` is the case after the change. */
export function logChange(
	moderationLog: Pick<ModerationLog, "add">,
	one: Case,
	what: CaseEdit["what"],
	editorId: string,
): void {
	const { guildId, number, action, userId, reason } = one;
	moderationLog.add(guildId, {
		title: changeTitles[what],
		moderatorId: editorId,
		...(userId !== undefined && { userId }),
		action: `${changeTitles[what]}: ${actionTitles[action]}`,
		reason: reason ?? null,
		caseNumber: number,
		confidential: confidentialOf(action),
	});
}
