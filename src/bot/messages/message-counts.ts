// Counts of messages by author, channel or day.

import type { APIMessage, Guild } from "discord.js";
import { channelName, time } from "../../discord/describe.ts";
import { countOf, oneField } from "../../discord/text.ts";
import { visibleChannel } from "../../discord/visible-channels.ts";
import { authorOf } from "./message-summary.ts";

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
	const folded = tail.length > 1 ? tail : [];
	return [...counts.filter((one) => !folded.includes(one)).map(lineOf), ...foldedLine(folded, by, more)];
}

/** The last `limit` days, and one line for all earlier ones, with `more` at its end. */
export function dayLines(counts: readonly Count[], limit: number, more: string): string[] {
	const earlier = counts.slice(0, -limit);
	return [
		...(earlier.length > 0 ? [`${countOf(earlier.length, "earlier day")}: ${sumOf(earlier)}${more}`] : []),
		...counts.slice(-limit).map(lineOf),
	];
}

function lineOf({ count, name }: Count): string {
	return `${count} | ${name}`;
}

function foldedLine(tail: readonly Count[], noun: string, more: string): string[] {
	const [first] = tail;
	return first
		? [
				`${countOf(tail.length, `more ${noun}`)} with ${first.count === 1 ? "1" : `${first.count} or fewer`}: ${sumOf(tail)}${more}`,
			]
		: [];
}

export function sumOf(counts: readonly Count[]): number {
	return counts.reduce((sum, { count }) => sum + count, 0);
}
