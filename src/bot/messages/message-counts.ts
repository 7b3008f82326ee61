// Counts of messages by author, channel or day.

import type { APIMessage, Guild } from "discord.js";
import { channelName, time } from "../../discord/describe.ts";
import { countOf } from "../../discord/text.ts";
import { visibleChannel } from "../../discord/visible-channels.ts";
import { authorOf } from "./message-summary.ts";

/** Criteria by which messages can be counted. */
export const groupings = ["author", "channel", "day"] as const;
export type Grouping = (typeof groupings)[number];

/** The number of messages of one author, of one channel or on one day. */
export interface Count {
	id: string;
	name: string;
	count: number;
}

/** What is needed to name and sort the authors and channels of counted messages. */
export interface Counting {
	guild: Guild;
	/** Authors, channels or days to list with the count 0 if they have no messages. */
	zeros?: readonly Pick<Count, "id" | "name">[];
	/** Names of channels by id. The order of this map decides between channels with equal counts. */
	channels?: ReadonlyMap<string, string>;
}

function nameOf(by: Grouping, message: APIMessage, counting: Counting): string {
	const { guild, channels } = counting;
	if (by === "author") return authorOf(message, guild);
	if (by === "day") return dayOf(message);
	const { channel_id: id } = message;
	const name = visibleChannel(guild, id)?.name ?? channels?.get(id) ?? id;
	return channelName({ name, id });
}

function dayOf({ timestamp }: APIMessage): string {
	return time(new Date(timestamp)).slice(0, 10);
}

/**
 * Counts messages by author, by channel or by day (UTC). Sorts days by date; sorts authors and channels by count,
 * highest first. Sorts equal counts in the order of `channels`, or by the authors' names.
 */
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

/**
 * Sorts counts in place: days by date, authors and channels by count, highest first. Channels with equal counts are
 * sorted in the order of `channelIds`.
 */
export function sortCounts(counts: Count[], by: Grouping, channelIds: readonly string[]): Count[] {
	if (by === "day") return counts.sort((a, b) => (a.id < b.id ? -1 : 1));
	const ranks = new Map(channelIds.map((id, index) => [id, index]));
	const rank = ({ id }: Count) => ranks.get(id) ?? ranks.size;
	return counts.sort((a, b) => b.count - a.count || rank(a) - rank(b) || names.compare(a.name, b.name));
}

// The order does not depend on the language of the system.
const names = new Intl.Collator("en", { numeric: true });

/**
 * Describes counts of messages by author or channel: one line for each of the first `limit` counts and for each id in
 * `kept`, and one line for all other counts together.
 */
export function countLines(
	counts: readonly Count[],
	by: "author" | "channel",
	limit: number,
	kept: ReadonlySet<string> = new Set(),
): string[] {
	const tail = counts.slice(limit).filter(({ id }) => !kept.has(id));
	// A line for a single count is no longer than one that does not name it.
	const folded = tail.length > 1 ? tail : [];
	return [...counts.filter((one) => !folded.includes(one)).map(lineOf), ...foldedLine(folded, by)];
}

/** Describes the last `limit` days in one line each, and all earlier days in one line together. */
export function dayLines(counts: readonly Count[], limit: number): string[] {
	const earlier = counts.slice(0, -limit);
	return [
		...(earlier.length > 0 ? [`${countOf(earlier.length, "earlier day")}: ${sumOf(earlier)}`] : []),
		...counts.slice(-limit).map(lineOf),
	];
}

function lineOf({ count, name }: Count): string {
	return `${count} | ${name}`;
}

function foldedLine(tail: readonly Count[], noun: string): string[] {
	const [first] = tail;
	return first
		? [`${countOf(tail.length, noun)} with ${first.count === 1 ? "1" : `${first.count} or fewer`}: ${sumOf(tail)}`]
		: [];
}

/** Returns the sum of several counts of messages. */
export function sumOf(counts: readonly Count[]): number {
	return counts.reduce((sum, { count }) => sum + count, 0);
}
