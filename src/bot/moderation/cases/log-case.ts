// Writes cases to the moderation log: an entry for each case, and one for each later change of it.

import { said } from "../../../texts/texts.ts";
import type { CaseEdit } from "../../store/tables/cases.ts";
import type { LogEntry, ModerationLog } from "../moderation-log.ts";
import type { Case } from "./case.ts";
import { gravityOf, saidAction, saidAllDetails, saidClient, saidReason, saidState, saidWhy } from "./case-text.ts";

export function logCase(moderationLog: Pick<ModerationLog, "add">, one: Case): void {
	moderationLog.add(one.guildId, entryOf(one));
}

export function entryOf(one: Case): LogEntry {
	const { number, action, userId, moderatorId } = one;
	const outcome = saidState(one.state);
	return {
		title: outcome ? said("log.undone.title", { action: saidAction(action), outcome }) : saidAction(action),
		gravity: gravityOf(action),
		isFailure: one.state !== "done",
		moderatorId,
		...(userId !== undefined && { userId }),
		cause: one.state === "not done" ? saidWhy(one) : undefined,
		detail: saidAllDetails(one),
		...(one.endsAt !== undefined && { until: one.endsAt }),
		reason: saidReason(one) ?? null,
		client: saidClient(one),
		...(one.told && { told: said(`log.told.${one.told}`) }),
		channelIds: one.channelIds,
		caseNumber: number,
		confidential: confidentialOf(action),
		evidence: one,
	};
}

function confidentialOf(action: Case["action"]): LogEntry["confidential"] {
	if (action === "note") return "entry";
	return action === "warn" ? "reason" : undefined;
}

const changes = { reason: "log.changed.title", delete: "log.deleted.title", restore: "log.restored.title" } as const;

/** `one` is the case after the change. */
export function logChange(
	moderationLog: Pick<ModerationLog, "add">,
	one: Case,
	what: CaseEdit["what"],
	editorId: string,
): void {
	const { guildId, number, action, userId } = one;
	moderationLog.add(guildId, {
		title: said(changes[what], { action: saidAction(action) }),
		moderatorId: editorId,
		...(userId !== undefined && { userId }),
		reason: saidReason(one) ?? null,
		caseNumber: number,
		confidential: confidentialOf(action),
	});
}
