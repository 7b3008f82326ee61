// The results of tools that search or count messages: first a line with the number and the range, then the messages or counts,
// last what was not searched.

import type { APIMessage, Guild, GuildBasedChannel } from "discord.js";
import { forClients } from "../../discord/acting-person.ts";
import { channelName, memberName, time } from "../../discord/describe.ts";
import { countOf, oneField, resultLines } from "../../discord/text.ts";
import { visibleChannel } from "../../discord/visible-channels.ts";
import type { MessageFilter } from "./message-filter.ts";
import { usualKinds } from "./message-lines.ts";
import { type Found, type Range, readableIn, type Scope, scopeLabel, scopeNotes } from "./message-search.ts";
import { authorOf, lineOrder, summaries } from "./message-summary.ts";

export const defaultLimit = 50;
const defaultRows = 25;

export interface Search {
	guild: Guild;
	args: MessageFilter &
		Range & { fold: boolean; limit: readonly number[]; channel_ids?: readonly string[] | undefined };
	scope: Scope;
	/** Whether the call names the channels. */
	isNamed: boolean;
	/** See `namesChannels`. */
	namesAll: boolean;
}

export const rowsNote =
	"Bots and webhooks, which are marked, count, too; threads and forum posts have rows of their own.";

/** With headings such as "By author:" if there are several. `countsBy`: with 0 for authors and channels that the call names. */
export function tables({ args }: Search, groupings: readonly Grouping[], countsBy: (by: Grouping) => readonly Count[]) {
	const { limit, user_ids, channel_ids } = args;
	const more = "; `limit` sets the rows";
	return groupings.flatMap((by, index) => {
		const head = groupings.length > 1 ? [`By ${by}:`] : [];
		const rows = limit[index] ?? limit.at(-1) ?? defaultRows;
		const counts = countsBy(by);
		if (by === "day") return [...head, ...dayLines(counts, Math.max(rows, maxDays), more)];
		const heard = by === "channel" ? counts.filter(({ count }) => count > 0) : counts;
		const silent = counts.slice(heard.length).map(({ name }) => name);
		const lines = countLines(heard, by, rows, new Set(by === "author" ? user_ids : channel_ids), more);
		return [...head, ...lines, ...(silent.length > 0 ? [`0 | ${silent.join(", ")}`] : [])];
	});
}

/** Those that the call names, also by a category: they have a row even without messages. */
export function namedChannels({ scope, args, isNamed }: Search) {
	const isRow = (one: GuildBasedChannel) => !one.isThread() || args.channel_ids?.includes(one.id);
	return isNamed ? channelsOf({ ...scope, channels: scope.channels.filter(isRow), archived: [] }) : [];
}

export function channelsOf(scope: Scope): { id: string; name: string }[] {
	return readableIn(scope).map((one) => ({ id: one.id, name: channelName(one) }));
}

export function authorsOf({ user_ids = [] }: MessageFilter, guild: Guild) {
	return user_ids.map((id) => {
		const member = guild.members.cache.get(id);
		return { id, name: member ? memberName(member) : `not a member (ID: ${id})` };
	});
}

export function readResult(search: Search, read: Found): string[] {
	const { guild, args, scope } = search;
	const { matches, searched } = read;
	if (searched === 0 && read.stopped === undefined)
		return resultLines(`There are no messages in this range of ${scopeLabel(scope)}.`, read.notes, scopeNotes(scope));
	const range = `${countOf(searched, "message")} of ${scopeLabel(scope)}, ${rangeOf(args, read)}`;
	const naming = { guild, threads: namesIn(scope), isAcross: readableIn(scope).length > 1, folds: args.fold };
	return resultLines(
		matches.length > 0
			? `${countOf(matches.length, "match")} among ${range}, ${lineOrder}:`
			: `No match among ${range}.`,
		summaries(matches, naming, args.text),
		/found$/.test(read.stopped ?? "") && forClients("count_by counts all, not only these."),
		endNotes(scope, read),
	);
}

function namesIn(scope: Scope): Map<string, string> {
	return new Map(readableIn(scope).map(({ id, name }) => [id, name]));
}

export function countResult(search: Search, groupings: readonly Grouping[], read: Found): string[] {
	const { guild, args, scope } = search;
	const written = read.matches.filter(({ type }) => usualKinds.includes(type));
	const notices = read.matches.length - written.length;
	const zeros = { author: authorsOf(args, guild), channel: namedChannels(search), day: daysOf(args, read) };
	const counting = { guild, channels: namesIn(scope) };
	const authors = new Set(written.map(({ author }) => author.id)).size;
	const channels = new Set(written.map(({ channel_id }) => channel_id)).size;
	const isOne = readableIn(scope).length === 1;
	const where = isOne ? scopeLabel(scope) : countOf(channels, "channel");
	return resultLines(
		`${countOf(written.length, "message")} in ${where} by ${countOf(authors, "author")}${isOne ? "" : `; ${scopeLabel(scope)} searched`}, ${rangeOf(args, read)}:`,
		tables(search, groupings, (by) => countsOf(written, by, { ...counting, zeros: zeros[by] })),
		rowsNote,
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

export const groupings = ["author", "channel", "day"] as const;
export type Grouping = (typeof groupings)[number];

export interface Count {
	id: string;
	name: string;
	count: number;
}

interface Counting {
	guild: Guild;
	/** Listed with 0 if they have no messages. */
	zeros?: readonly Pick<Count, "id" | "name">[];
	/** Names by id; their order decides between equal counts. */
	channels?: ReadonlyMap<string, string>;
}

function nameOf(by: Grouping, message: APIMessage, counting: Counting): string {
	const { guild, channels } = counting;
	if (by === "author") return authorOf(message, guild);
	if (by === "day") return dayOf(message);
	const { channel_id: id } = message;
	const channel = visibleChannel(guild, id);
	const name = channelName({ name: channel?.name ?? channels?.get(id) ?? id, id });
	return channel?.parent ? `${name} in ${oneField(channel.parent.name)}` : name;
}

function dayOf({ timestamp }: APIMessage): string {
	return time(new Date(timestamp)).slice(0, 10);
}

/** Days are UTC, by date; others highest first, then in the order of `channels` or by name. */
export function countsOf(messages: readonly APIMessage[], by: Grouping, counting: Counting): Count[] {
	const { zeros = [], channels } = counting;
	const groups = Map.groupBy(messages, (message) =>
		by === "author" ? message.author.id : by === "channel" ? message.channel_id : dayOf(message),
	);
	const counts = [...groups].flatMap(([id, [first, ...others]]) =>
		first ? { id, name: nameOf(by, first, counting), count: others.length + 1 } : [],
	);
	const missing = zeros.filter(({ id }) => !groups.has(id));
	counts.push(...missing.map((one) => ({ ...one, count: 0 })));
	return sortCounts(counts, by, [...(channels?.keys() ?? [])]);
}

/** In place: days by date, others highest first, then in the order of `channelIds`. */
export function sortCounts(counts: Count[], by: Grouping, channelIds: readonly string[]): Count[] {
	if (by === "day") return counts.sort((a, b) => (a.id < b.id ? -1 : 1));
	const ranks = new Map(channelIds.map((id, index) => [id, index]));
	const rank = ({ id }: Count) => ranks.get(id) ?? ranks.size;
	return counts.sort((a, b) => b.count - a.count || rank(a) - rank(b) || names.compare(a.name, b.name));
}

// The order does not depend on the language of the system.
const names = new Intl.Collator("en", { numeric: true });

/** The first `limit` and those in `kept`, and one line for all others, with `more` at its end. */
export function countLines(
	counts: readonly Count[],
	by: "author" | "channel",
	limit: number,
	kept: ReadonlySet<string> = new Set(),
	more = "",
): string[] {
	const tail = counts.slice(limit).filter(({ id }) => !kept.has(id));
	// A line for a single count is no longer than one that does not name it.
	const [first, ...others] = tail;
	if (!first || others.length === 0) return counts.map(lineOf);
	const most = first.count === 1 ? "1" : `${first.count} or fewer`;
	return [
		...counts.filter((one) => !tail.includes(one)).map(lineOf),
		`${countOf(tail.length, `more ${by}`)} with ${most}: ${sumOf(tail)}${more}`,
	];
}

/** The last `limit` days, and one line for all earlier ones, with `more` at its end. */
function dayLines(counts: readonly Count[], limit: number, more: string): string[] {
	const earlier = counts.slice(0, -limit);
	return [
		...(earlier.length > 0 ? [`${countOf(earlier.length, "earlier day")}: ${sumOf(earlier)}${more}`] : []),
		...counts.slice(-limit).map(lineOf),
	];
}

function lineOf({ count, name }: Count): string {
	return `${count} | ${name}`;
}

export function sumOf(counts: readonly Count[]): number {
	return counts.reduce((sum, { count }) => sum + count, 0);
}
