// What is said about moderation cases: actions, outcomes, reasons, in no language yet; and the entries of cases in the
// moderation log.

import { time } from "../../../discord/describe.ts";
import { withTitles } from "../../../discord/permissions.ts";
import { render, type Said, said, type Text } from "../../../texts/texts.ts";
import { at, type Result, result } from "../../results/result.ts";
import type { CaseEdit, CaseRow } from "../../store/tables/cases.ts";
import { type CaseAction, caseActions } from "../../tool/case-record.ts";
import type { Gravity, LogEntry, ModerationLog } from "../moderation-log.ts";
import type { Case, Cause } from "./case.ts";

export function saidAction(action: CaseAction): Said {
	return said(`case.action.${action}`);
}

const actionTitles = Object.fromEntries(
	caseActions.map((action) => [action, render(saidAction(action), "en")]),
) as Readonly<Record<CaseAction, string>>;

const severe: readonly CaseAction[] = ["ban", "temp_ban", "kick", "prune"];
const warning: readonly CaseAction[] = ["timeout", "warn", "spam", "automod", "purge", "lock", "raid_on"];
const lifted: readonly CaseAction[] = ["unban", "remove_timeout", "unlock", "raid_off"];

export function gravityOf(action: CaseAction): Gravity {
	if (severe.includes(action)) return "severe";
	if (warning.includes(action)) return "warning";
	return lifted.includes(action) ? "lifted" : "note";
}

const states = {
	"not done": said("case.state.undone"),
	asked: said("case.state.asked"),
	unknown: said("case.state.unknown"),
};

export function saidState(state: Case["state"]): Said | undefined {
	return state === "done" ? undefined : states[state];
}

/** The client of a case; undefined if a person acted on Discord. */
export function saidClient({ client }: Pick<Case, "client">): Text | undefined {
	return client === rootClient ? said("log.root_key") : client;
}

export function describeState({ state, why }: Pick<Case, "state" | "why">): string | undefined {
	const outcome = saidState(state);
	if (outcome === undefined) return undefined;
	return `${render(outcome, "en")}${state === "not done" && why ? `: ${why}` : ""}`;
}

const toldTexts = { yes: said("case.told.yes"), failed: said("case.told.failed"), asked: said("case.told.asked") };

export function saidTold(told: Case["told"]): Said | undefined {
	return told && toldTexts[told];
}

/** Stored as the client of a case. */
export const rootClient = "holder of the root key";

/** The reason of a case; that of an action by a rule in no language yet. */
export function saidReason({ reason, source }: Pick<Case, "reason" | "source">): Text | undefined {
	const [, count, noun, number] = (source?.startsWith("rule:") && ruleReason.exec(reason ?? "")) || [];
	const key = counted.find((one) => one === noun);
	if (key === undefined || number === undefined) return reason;
	return said(`case.rule.${key}`, { count: Number(count), number });
}

const counted = ["warning", "timeout", "kick", "ban"] as const;
const ruleReason = /^Rule "(\d+) ([a-z]+?)s? in [^"]+" \(case (\d+)\)$/;

const counting: readonly string[] = ["count.messages", "case.detail.deleted"];

export function saidAllDetails({ detail, messageIds: { length: count } }: Pick<Case, "detail" | "messageIds">): Text[] {
	const isCounted = count === 0 || detail.some((part) => typeof part === "object" && counting.includes(part.key));
	return isCounted ? [...detail] : [...detail, said("count.messages", { count })];
}

/** As it is stored. */
export function causeOf(whySaid: Said): Cause {
	return { why: render(whySaid, "en"), whySaid: withTitles(whySaid) };
}

export function saidWhy({ why, whySaid }: Cause): Text | undefined {
	return whySaid ?? why;
}

/** For the result of the tool call that made the rule apply. */
export function describeEscalation({
	number,
	action,
	ends_at,
	reason,
	source,
}: Pick<CaseRow, "number" | "action" | "ends_at" | "reason" | "source">): Result {
	const end = ends_at === null ? "" : ` until ${time(ends_at)}`;
	const shown = {
		number: String(number),
		action: saidAction(action as CaseAction),
		why: saidReason({ reason: reason ?? undefined, source: source ?? undefined }) ?? "",
	};
	return result(
		`Case ${number} follows: ${actionTitles[action as CaseAction]}${end}. ${reason}.`,
		ends_at === null
			? said("result.escalation", shown)
			: said("result.escalation_until", { ...shown, until: at(ends_at) }),
	);
}

/** They are consecutive. */
export function describeNumbers(numbers: readonly number[]): Result {
	const [first, last] = [numbers[0], numbers.at(-1)];
	return numbers.length === 1
		? result(`Case ${first}.`, said("result.case", { number: String(first) }))
		: result(`Cases ${first} to ${last}.`, said("result.cases", { first: String(first), last: String(last) }));
}

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
