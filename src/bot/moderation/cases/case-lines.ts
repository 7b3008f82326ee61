// Cases in tool results: one line each, or one case with its history. What people wrote is escaped.

import type { Guild } from "discord.js";
import { personNameById, time } from "../../../discord/describe.ts";
import { fieldLine, oneField, resultLines, truncate } from "../../../discord/text.ts";
import { visibleChannel } from "../../../discord/visible-channels.ts";
import { listFirst } from "../../../lib/text.ts";
import { render, type Said, said, type Text } from "../../../texts/texts.ts";
import { linkTo } from "../../messages/sent-message.ts";
import { written } from "../../results/people-text.ts";
import { at, channels, type Part, parts, result } from "../../results/result.ts";
import type { CaseEdit, ModeratorCount } from "../../store/tables/cases.ts";
import type { CaseAction } from "../../tool/case-record.ts";
import type { Case } from "./case.ts";
import {
	describeState,
	saidAction,
	saidAllDetails,
	saidClient,
	saidReason,
	saidState,
	saidTold,
	saidWhy,
} from "./case-text.ts";

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
