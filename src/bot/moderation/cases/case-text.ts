// What is said about moderation cases: actions, outcomes, details. Rows keep these in English; here they are in no language.

import { time } from "../../../discord/describe.ts";
import { withTitles } from "../../../discord/permissions.ts";
import { inlineText, maxReasonLength } from "../../../discord/text.ts";
import { render, type Said, said, type Text } from "../../../texts/texts.ts";
import { at, type Result, result } from "../../results/result.ts";
import type { CaseRow } from "../../store/tables/cases.ts";
import { type CaseAction, caseActions } from "../../tool/case-record.ts";
import type { Gravity } from "../moderation-log.ts";
import type { Case, Cause } from "./case.ts";

export function saidAction(action: CaseAction): Said {
	return said(`case.action.${action}`);
}

const actionTitles = Object.fromEntries(
	caseActions.map((action) => [action, render(saidAction(action), "en")]),
) as Readonly<Record<CaseAction, string>>;

const severe: readonly CaseAction[] = ["ban", "temp_ban", "kick", "prune"];
const warning: readonly CaseAction[] = ["timeout", "warn", "spam", "purge", "lock", "raid_on"];
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

const counts = [
	[/^([\d,]+) member(?:s|\(s\))/, "case.detail.members"],
	[/^inactive for (\d+) day\(s\)/, "case.detail.inactive"],
	[/^messages: ([\d,]+)/, "count.messages"],
	[/^([\d,]+) unknown/, "case.detail.unknown"],
	[/^ids of the newest ([\d,]+) are kept/, "case.detail.kept"],
	[/^authors: ([\d,]+)/, "case.detail.authors"],
] as const;

const details: readonly [RegExp, (...matched: string[]) => Text][] = [
	[
		/^(\d+) message\(s\) deleted, (\d+) not/,
		(count, others) => said("case.detail.deleted", { count: toNumber(count), all: toNumber(count) + toNumber(others) }),
	],
	[
		/^messages: ([\d,]+) deleted of ([\d,]+)/,
		(count, all) => said("case.detail.deleted", { count: toNumber(count), all: toNumber(all) }),
	],
	...counts.map(([form, key]): [RegExp, (count: string) => Text] => [
		form,
		(count) => said(key, { count: toNumber(count) }),
	]),
	[/^role (\d{17,20})/, (id) => `<@&${id}>`],
	[/^slow mode: ([\d → ]+) s\b/, (seconds) => said("case.detail.slowmode", { seconds })],
	[/^approved by (.+)$/s, (name) => said("case.detail.approved", { name: inlineText(name, maxReasonLength) })],
];

export function saidAllDetails({ detail = "", messageIds: { length: count } }: Pick<Case, "detail" | "messageIds">) {
	const isCounted = count === 0 || /^messages: |^\d+ message\(s\)/.test(detail);
	return isCounted ? saidDetails(detail) : [...saidDetails(detail), said("count.messages", { count })];
}

/** The parts of a stored detail, in Discord's Markdown. What is in no known form stays as it is. */
export function saidDetails(detail: string): Text[] {
	const parts: Text[] = [];
	for (let rest = detail; rest !== ""; ) {
		const known = details.flatMap(([form, part]) => {
			const [matched, ...values] = form.exec(rest) ?? [];
			return matched === undefined ? [] : [{ part: part(...values), end: matched.length }];
		});
		const [first] = known;
		if (!first) return [...parts, inlineText(rest, maxReasonLength)];
		parts.push(first.part);
		rest = rest.slice(first.end).replace(/^[,;]? */, "");
	}
	return parts;
}

/** As it is stored. */
export function causeOf(whySaid: Said): Cause {
	return { why: render(whySaid, "en"), whySaid: withTitles(whySaid) };
}

export function saidWhy({ why, whySaid }: Cause): Text | undefined {
	return whySaid ?? why;
}

function toNumber(text: string): number {
	return Number(text.replaceAll(",", ""));
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
