// Cases in tool results: one line each, or one case with its history. What people wrote is escaped.

import type { Guild } from "discord.js";
import { isForPeople } from "../../../discord/acting-person.ts";
import { channelLabel, personNameById, roleLabel, time } from "../../../discord/describe.ts";
import { countOf, fieldLine, oneField, resultLines } from "../../../discord/text.ts";
import { visibleChannel } from "../../../discord/visible-channels.ts";
import { listFirst } from "../../../lib/text.ts";
import { linkTo } from "../../messages/sent-message.ts";
import type { CaseEdit, ModeratorCount } from "../../store/tables/cases.ts";
import { sample } from "../../tool/bulk.ts";
import type { CaseAction } from "../../tool/case-record.ts";
import type { Case } from "./case.ts";
import { actionTitles, describeState, describeTold } from "./case-text.ts";

/** Maximum number of message ids, and of channel ids, that the details of a case list for MCP clients. */
const maxListed = 50;
const maxLinks = 3;
const maxChannels = 10;
const maxModerators = 15;

/** Number, time, action, person, moderator and reason, then details such as its end, state and deletion. */
export function caseLine(guild: Guild, one: Case): string {
	const { number, createdAt, action, userId, moderatorId, client } = one;
	const { reason, endsAt, detail, messageIds } = one;
	const state = describeState(one);
	return fieldLine(
		`#${number}`,
		time(createdAt),
		titleFor(action),
		userId && personNameById(guild, userId),
		`by ${personNameById(guild, moderatorId)}${client ? ` through ${oneField(client)}` : ""}`,
		endsAt !== undefined && `until ${time(endsAt)}`,
		reason ? `reason: ${oneField(reason)}` : "no reason given",
		detail && describeDetail(guild, detail),
		messageIds.length > 0 &&
			!(isForPeople() && detail?.startsWith("messages: ")) &&
			(isForPeople() ? countOf(messageIds.length, "message") : `${messageIds.length} message(s)`),
		describeTold(one.told),
		state && oneField(state),
		one.deletedAt !== undefined && `deleted ${time(one.deletedAt)}`,
	);
}

/** Formats a case in several lines: its messages and channels, and the changes of its record, newest first. */
export function caseDetails(guild: Guild, one: Case, edits: readonly CaseEdit[]): string[] {
	const { messageIds, channelIds } = one;
	return resultLines(
		caseLine(guild, one),
		isForPeople()
			? placesFor(guild, one)
			: [
					messageIds.length > 0 && `Messages: ${listed(messageIds)}`,
					channelIds.length > 0 && `Channels: ${listed(channelIds)}`,
				],
		edits.length > 0 &&
			(isForPeople()
				? `${countOf(edits.length, "change")}, newest first:`
				: `${edits.length} change(s), newest first:`),
		edits.map(({ at, editor_id, what, before }) =>
			fieldLine(
				time(at),
				`by ${personNameById(guild, editor_id)}`,
				what === "reason" ? `reason changed from: ${before ? oneField(before) : "none"}` : `${what}d`,
			),
		),
	);
}

/** Formats the number of a person's cases by action: "In all: 3 warn, 1 ban." */
export function summaryOf(counts: readonly { action: string; count: number }[]): string {
	return counts.length === 0 ? "" : `In all: ${countsText(counts)}.`;
}

/** One line per moderator. Those with the most cases come first. */
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

/** Formats numbers of cases by action: "3 warn, 1 ban". */
export function countsText(counts: readonly { action: string; count: number }[]): string {
	return counts.map(({ action, count }) => `${count} ${titleFor(action)}`).join(", ");
}

/** A title for people on Discord, the value of the tool argument `action` for MCP clients. */
function titleFor(action: string): string {
	return isForPeople() ? (actionTitles[action as CaseAction] ?? action) : action;
}

function describeDetail(guild: Guild, detail: string): string {
	const [, id = "", rest = ""] = /^role (\d{17,20})\b(.*)$/.exec(detail) ?? [];
	const role = isForPeople() ? guild.roles.cache.get(id) : undefined;
	return role ? `${roleLabel(role)}${oneField(rest)}` : oneField(detail);
}

function placesFor(guild: Guild, { messageIds, channelIds }: Case): string[] {
	const visible = channelIds.flatMap((id) => visibleChannel(guild, id) ?? []);
	const [only] = visible;
	const place = channelIds.length === 1 && only && { id: only.id, guild };
	const links = place ? messageIds.slice(0, maxLinks).map((id) => linkTo(place, id)) : [];
	const more = messageIds.length - links.length;
	return resultLines(
		visible.length > 0 && `Channels: ${sample(visible, maxChannels, channelLabel).join(", ")}`,
		links.length > 0 && "Messages, unless they are deleted:",
		links,
		links.length > 0 && more > 0 && `and ${more} more`,
	);
}

function listed(ids: readonly string[]): string {
	return listFirst(ids, maxListed, ", and ");
}
