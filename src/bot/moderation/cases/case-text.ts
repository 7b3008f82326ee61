// What is said about moderation cases: actions, outcomes, reasons, in no language yet; and the entries of cases in the
// moderation log.

import type { Guild } from "discord.js";
import { personNameById, time } from "../../../discord/describe.ts";
import { withTitles } from "../../../discord/permissions.ts";
import { fieldLine, oneField, resultLines, truncate } from "../../../discord/text.ts";
import { visibleChannel } from "../../../discord/visible-channels.ts";
import { listFirst } from "../../../lib/text.ts";
import { render, type Said, said, type Text } from "../../../texts/texts.ts";
import { linkTo } from "../../messages/sent-message.ts";
import { written } from "../../results/people-text.ts";
import { at, channels, type Part, parts, type Result, result } from "../../results/result.ts";
import type { CaseEdit, CaseRow, ModeratorCount } from "../../store/tables/cases.ts";
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

const maxListed = 50;
const maxLinks = 3;
const maxModerators = 15;
const maxReasonShown = 100;

export function caseLine(guild: Guild, one: Case): string {
	const { number, createdAt, action, userId, moderatorId, client } = one;
	const { reason, endsAt, detail, messageIds } = one;
	const state = describeState(one);
	const told = saidTold(one.told);
	return fieldLine(
		`#${number}`,
		time(createdAt),
		action,
		userId && personNameById(guild, userId),
		`by ${personNameById(guild, moderatorId)}${client ? ` through ${oneField(client)}` : ""}`,
		endsAt !== undefined && `until ${time(endsAt)}`,
		reason ? `reason: ${oneField(reason)}` : "no reason given",
		detail.length > 0 && oneField(detail.map((part) => render(part, "en")).join(", ")),
		messageIds.length > 0 && `${messageIds.length} message(s)`,
		told && render(told, "en"),
		state && oneField(state),
		one.deletedAt !== undefined && `deleted ${time(one.deletedAt)}`,
	);
}

export function caseDetails(guild: Guild, one: Case, edits: readonly CaseEdit[]): Part[] {
	const { messageIds, channelIds, entry } = one;
	const evidence =
		entry && visibleChannel(guild, entry.channelId) && linkTo({ id: entry.channelId, guild }, entry.messageId);
	return parts(
		result(
			[
				caseLine(guild, one),
				messageIds.length > 0 && `Messages: ${listed(messageIds)}`,
				channelIds.length > 0 && `Channels: ${listed(channelIds)}`,
				evidence && `Log entry: ${evidence}`,
				edits.length > 0 && `${edits.length} change(s), newest first:`,
			],
			saidCase(one, { isWhole: true }),
			...saidPlaces(guild, one),
			evidence !== undefined && said("result.case_entry", { link: evidence }),
		),
		edits.map(({ at: changedAt, editor_id, what, before }) =>
			result(
				fieldLine(
					time(changedAt),
					`by ${personNameById(guild, editor_id)}`,
					what === "reason" ? `reason changed from: ${before ? oneField(before) : "none"}` : `${what}d`,
				),
				said(`result.edit_${what}`, { when: at(changedAt), who: `<@${editor_id}>` }),
				what === "reason" &&
					before !== null &&
					said("result.edit_before", { before: escaped(saidReason({ reason: before, source: one.source })) ?? "" }),
			),
		),
	);
}

/** Formats the number of a person's cases by action: "In all: 3 warn, 1 ban." */
export function summaryOf(counts: readonly { action: string; count: number }[]): string {
	return counts.length === 0 ? "" : `In all: ${countsText(counts)}.`;
}

/** For people: the same. */
export function saidSummary(counts: readonly { action: string; count: number }[]): Said | undefined {
	const all = counts.map(({ action, count }) =>
		said("result.case_count", { number: String(count), action: saidAction(action as CaseAction) }),
	);
	const list = dotted(all);
	return list === undefined ? undefined : said("result.all_cases", { list });
}

/** For people: a case in at most two lines. `isWhole`: without leaving out or shortening anything. */
export function saidCase(one: Case, { isWhole = false } = {}): Said {
	const { number, action, userId, channelIds, createdAt, moderatorId, endsAt } = one;
	const values = {
		number: String(number),
		action: saidAction(action),
		when: at(createdAt),
		moderator: `<@${moderatorId}>`,
	};
	const who = userId === undefined ? channels(channelIds.map((id) => ({ id }))) : `<@${userId}>`;
	const reason = saidReason(one);
	const state = saidState(one.state);
	const why = isWhole && one.state === "not done" ? escaped(saidWhy(one)) : undefined;
	const client = isWhole ? escaped(saidClient(one)) : undefined;
	const texts = [
		escaped(typeof reason === "string" && !isWhole ? truncate(reason, maxReasonShown) : reason),
		endsAt === undefined ? undefined : said("result.until", { until: at(endsAt) }),
		...(isWhole ? saidAllDetails(one) : one.detail),
		saidTold(one.told),
		state && why ? said("result.entry_why", { state, why }) : state,
		client && said("result.entry_client", { client }),
		one.deletedAt === undefined ? undefined : said("result.entry_deleted", { when: at(one.deletedAt) }),
	];
	const more = dotted(texts.filter((text) => text !== undefined));
	const entry = who === "" ? said("result.entry_guild", values) : said("result.entry", { ...values, who });
	return more ? said("result.entry_more", { entry, more }) : entry;
}

function escaped(text: Text | undefined): Text | undefined {
	return typeof text === "string" ? written(text) : text;
}

function dotted([first, ...rest]: readonly Text[]): Text | undefined {
	const more = rest.length > 0 ? dotted(rest) : undefined;
	return first !== undefined && more !== undefined ? said("result.dotted", { first, rest: more }) : first;
}

/** Those with the most cases come first. */
export function moderatorLines(guild: Guild, counts: readonly ModeratorCount[]): string[] {
	const all = [...Map.groupBy(counts, (one) => one.moderator_id)]
		.map(([id, own]) => ({ id, own, total: own.reduce((sum, { count }) => sum + count, 0) }))
		.toSorted((a, b) => b.total - a.total);
	const more = all.length - maxModerators;
	return resultLines(
		all
			.slice(0, maxModerators)
			.map(({ id, own, total }) => fieldLine(String(total), `by ${personNameById(guild, id)}`, countsText(own))),
		more > 0 && `and ${more} other moderators`,
	);
}

export function countsText(counts: readonly { action: string; count: number }[]): string {
	return counts.map(({ action, count }) => `${count} ${action}`).join(", ");
}

function saidPlaces(guild: Guild, { userId, messageIds, channelIds }: Case): Said[] {
	const visible = channelIds.flatMap((id) => visibleChannel(guild, id) ?? []);
	const [only] = visible;
	const place = channelIds.length === 1 && only && { id: only.id, guild };
	const links = place ? messageIds.slice(0, maxLinks).map((id) => linkTo(place, id)) : [];
	return [
		...(userId !== undefined && visible.length > 0 ? [said("result.case_channels", { where: channels(visible) })] : []),
		...(links.length > 0 ? [said("result.case_messages", { links: links.join(" ") })] : []),
	];
}

function listed(ids: readonly string[]): string {
	return listFirst(ids, maxListed, ", and ");
}
