// The results of tools that search or count messages: first a line with the number and the range, then the messages or counts,
// last what was not searched.

import type { Guild } from "discord.js";
import { channelName, memberName, time } from "../../discord/describe.ts";
import { countOf, resultLines, thousands } from "../../discord/text.ts";
import { type Count, countLines, countsOf, dayLines, type Grouping } from "./message-counts.ts";
import type { MessageFilter } from "./message-filter.ts";
import { usualKinds } from "./message-lines.ts";
import { type Found, type Range, readableIn, type Scope, scopeLabel, scopeNotes } from "./message-search.ts";
import { summaries } from "./message-summary.ts";

export const defaultLimit = 50;
const defaultRows = 25;

export interface Search {
	guild: Guild;
	args: MessageFilter &
		Range & { fold: boolean; limit?: number | undefined; channel_ids?: readonly string[] | undefined };
	scope: Scope;
	/** Whether the call names the channels. */
	isNamed: boolean;
}

/** Authors or channels that the call names always have a line. */
export function linesBy({ args }: Search, by: Grouping, counts: readonly Count[]) {
	const { limit = defaultRows, user_ids, channel_ids } = args;
	const more = "; `limit` sets the rows";
	if (by === "day") return dayLines(counts, Math.max(limit, maxDays), more);
	const kept = by === "author" ? user_ids : channel_ids;
	return countLines(counts, by, limit, new Set(kept), more);
}

/** With headings such as "By author:" if there are several. */
export function underHeads(groupings: readonly Grouping[], lines: readonly (readonly string[])[]): string[] {
	const isAlone = groupings.length === 1;
	return groupings.flatMap((by, index) => [...(isAlone ? [] : [`By ${by}:`]), ...(lines[index] ?? [])]);
}

export function channelsOf(scope: Scope): { id: string; name: string }[] {
	return readableIn(scope).map((one) => ({ id: one.id, name: channelName(one) }));
}

/** In the order of the guild's channels. */
export function idsIn(scope: Scope): string[] {
	return readableIn(scope).map(({ id }) => id);
}

export function countOfMatches(count: number): string {
	return `${thousands(count)} match${count === 1 ? "" : "es"}`;
}

export function authorsOf({ user_ids = [] }: MessageFilter, guild: Guild) {
	return user_ids.map((id) => {
		const member = guild.members.cache.get(id);
		const name = member ? memberName(member) : `not a member (ID: ${id})`;
		return { id, name };
	});
}

export function readResult(search: Search, read: Found): string[] {
	const { guild, args, scope } = search;
	const { matches, searched } = read;
	if (searched === 0 && read.stopped === undefined)
		return resultLines(`There are no messages in this range of ${scopeLabel(scope)}.`, read.notes, scopeNotes(scope));
	const range = `${countOf(searched, "message")} of ${scopeLabel(scope)}, ${rangeOf(args, read)}`;
	const naming = {
		guild,
		threads: namesIn(scope),
		userIds: args.user_ids,
		isAcross: readableIn(scope).length > 1,
		folds: args.fold,
	};
	return resultLines(
		matches.length > 0
			? `${countOfMatches(matches.length)} among ${range}, newest first, times in UTC:`
			: `No match among ${range}.`,
		summaries(matches, naming, args.text),
		endNotes(scope, read),
	);
}

function namesIn(scope: Scope): Map<string, string> {
	return new Map(readableIn(scope).map(({ id, name }) => [id, name]));
}

export function countResult(search: Search, groupings: readonly Grouping[], read: Found): string[] {
	const { guild, args, scope, isNamed } = search;
	const written = read.matches.filter(({ type }) => usualKinds.includes(type));
	const notices = read.matches.length - written.length;
	const zeros = {
		author: authorsOf(args, guild),
		channel: isNamed ? channelsOf({ ...scope, archived: [] }) : [],
		day: daysOf(args, read),
	};
	const counting = { guild, channels: namesIn(scope) };
	const lines = groupings.map((by) => {
		const counts = countsOf(written, by, { ...counting, zeros: zeros[by] });
		return linesBy(search, by, counts);
	});
	const authors = new Set(written.map(({ author }) => author.id)).size;
	const channels = new Set(written.map(({ channel_id }) => channel_id)).size;
	const isOne = readableIn(scope).length === 1;
	const where = isOne ? scopeLabel(scope) : countOf(channels, "channel");
	return resultLines(
		`${countOf(written.length, "message")} in ${where} by ${countOf(authors, "author")}${isOne ? "" : `; ${scopeLabel(scope)} searched`}, ${rangeOf(args, read)}:`,
		underHeads(groupings, lines),
		notices > 0 && `${countOf(notices, "notice")} by Discord, such as that someone joined, not counted.`,
		endNotes(scope, read),
	);
}

const dayMs = 86_400_000;
const maxDays = 100;

function daysOf({ after, before }: Range, read: Found) {
	const start = startOf(after, read) ?? 0;
	const end = (before?.atMs ?? Date.now()) - 1;
	const first = Math.floor(start / dayMs);
	const length = Math.floor(end / dayMs) - first + 1;
	if (length < 1 || length > maxDays) return [];
	return Array.from({ length }, (_, index) => {
		const day = time((first + index) * dayMs).slice(0, 10);
		return { id: day, name: day };
	});
}

function startOf(after: Range["after"], { reachedMs, stopped }: Found): number | undefined {
	return stopped === undefined ? (after?.atMs ?? reachedMs) : reachedMs;
}

function rangeOf({ after, before }: Range, read: Found): string {
	const from = startOf(after, read);
	const start = from === undefined ? "" : `back to ${time(from)}`;
	const end = before ? `before ${time(before.atMs)}` : `now ${time(Date.now())}`;
	return [start, end].filter(Boolean).join(", ");
}

function endNotes(scope: Scope, { notes, stopped, nextBefore }: Found): string[] {
	return resultLines(
		notes,
		scopeNotes(scope),
		stopped === undefined
			? `The whole range was searched${scope.parents.length > 0 && scope.unlisted.length === 0 ? ", with archived threads" : ""}.`
			: `Older messages were not searched, because ${stopped}`.replace(/\.?$/, "."),
		nextBefore && `next_before=${nextBefore}`,
	);
}
