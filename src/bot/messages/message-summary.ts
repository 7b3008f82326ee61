// Messages in few bytes: a short line for each, and counts by author, channel or day.

import type { APIMessage, Guild } from "discord.js";
import { MessageType } from "discord.js";
import {
	channelName,
	memberName,
	time,
	userName,
} from "../discord/describe.ts";
import { fieldLine, oneField, truncate } from "../discord/text.ts";
import { kindsIn } from "./message-filter.ts";
import { messageTexts, usualKinds } from "./message-lines.ts";

/** What is needed to name the channels and authors of messages. */
export interface Naming {
	guild: Guild;
	/** Names of threads by id, for threads that are not in the bot's cache. */
	threads?: ReadonlyMap<string, string>;
	/** Whether the messages may come from several channels. */
	isAcross: boolean;
}

/** Maximum number of characters of a message's text to show. */
const maxText = 120;
/** Number of characters to show before the text that was searched for. */
const maxLead = 30;

/**
 * Describes messages in one short line each: channel, time, author, id, kinds of content, and the text near `wanted`.
 * The last line contains the names and ids of the authors. Ids have the form "channel_id/message_id" if the messages
 * come from several channels.
 */
export function summaries(
	messages: readonly APIMessage[],
	{ guild, threads, isAcross }: Naming,
	wanted = "",
): string[] {
	if (messages.length === 0) return [];
	const idsByName = Map.groupBy(
		new Map(messages.map(({ author }) => [author.id, author])).values(),
		({ username }) => username,
	);
	const lines = messages.map((message) => {
		const { id, channel_id, author, type } = message;
		const isUnique = idsByName.get(author.username)?.length === 1;
		const channel = guild.channels.cache.get(channel_id)?.name;
		const name = channel ?? threads?.get(channel_id) ?? channel_id;
		// The text shows links.
		const kinds = kindsIn(message).filter((kind) => kind !== "link");
		return fieldLine(
			isAcross && `#${oneField(name)}`,
			time(new Date(message.timestamp)),
			isUnique ? `@${oneField(author.username)}` : userName(author),
			`ID: ${isAcross ? `${channel_id}/${id}` : id}`,
			!usualKinds.includes(type) && `kind: ${MessageType[type] ?? type}`,
			kinds.length > 0 && `has: ${kinds.join(", ")}`,
			message.pinned && "pinned",
			textField(message, wanted),
		);
	});
	const authors = new Map(
		messages.map((message) => [message.author.id, authorOf(message, guild)]),
	);
	return [...lines, `Authors: ${fieldLine(...authors.values())}`];
}

function textField(message: APIMessage, wanted: string): string {
	const text = messageTexts(message).filter(Boolean).join(" / ");
	if (text === "") return "";
	const at = text.toLowerCase().indexOf(wanted.toLowerCase());
	const isFar = at + wanted.length > maxText;
	const start = isFar ? at - maxLead : 0;
	// A cut may split a surrogate pair.
	const shown = `${isFar ? "…" : ""}${text.slice(start)}`.toWellFormed();
	return `text: ${oneField(truncate(shown, maxText))}`;
}

/** Formats the display name, username and id of a message's author, and whether the author is a bot or a webhook. */
function authorOf({ author, webhook_id }: APIMessage, guild: Guild): string {
	const kind = webhook_id ? " [webhook]" : author.bot ? " [bot]" : "";
	const member = guild.members.cache.get(author.id);
	if (member) return `${memberName(member)}${kind}`;
	const { global_name: name } = author;
	const shown = name ? `${oneField(name)} ` : "";
	return `${shown}(@${oneField(author.username)}, ID: ${author.id})${kind}`;
}

/** Criteria by which messages can be counted. */
export const groupings = ["author", "channel", "day"] as const;
export type Grouping = (typeof groupings)[number];

/** The number of messages of one author, of one channel or on one day. */
export interface Count {
	id: string;
	name: string;
	count: number;
}

/** Returns the name of a message's author, channel or day, as `by` selects. */
function nameOf(by: Grouping, message: APIMessage, guild: Guild): string {
	if (by === "author") return authorOf(message, guild);
	if (by === "day") return dayOf(message);
	const { channel_id: id } = message;
	return channelName({ name: guild.channels.cache.get(id)?.name ?? id, id });
}

function dayOf({ timestamp }: APIMessage): string {
	return time(new Date(timestamp)).slice(0, 10);
}

/**
 * Counts messages by author, by channel or by day (UTC). Days are sorted by date, others by count, highest first.
 * Authors, channels or days in `zeros` that have no messages are counted with 0.
 */
export function countsOf(
	messages: readonly APIMessage[],
	by: Grouping,
	guild: Guild,
	zeros: readonly Pick<Count, "id" | "name">[] = [],
): Count[] {
	const groups = Map.groupBy(messages, (message) =>
		by === "author"
			? message.author.id
			: by === "channel"
				? message.channel_id
				: dayOf(message),
	);
	const counts = [...groups].flatMap(([id, [first, ...others]]) =>
		first
			? { id, name: nameOf(by, first, guild), count: others.length + 1 }
			: [],
	);
	const missing = zeros.filter(({ id }) => !groups.has(id));
	counts.push(...missing.map((one) => ({ ...one, count: 0 })));
	return counts.sort((a, b) =>
		by === "day" ? (a.id < b.id ? -1 : 1) : b.count - a.count,
	);
}

/** Describes the first `limit` counts in one line each, and the sum of all others in one more line. */
export function countLines(counts: readonly Count[], limit: number): string[] {
	const more = counts.slice(limit);
	const sum = more.reduce((sum, { count }) => sum + count, 0);
	return [
		...counts.slice(0, limit).map(({ count, name }) => `${count} | ${name}`),
		...(more.length > 0 ? [`${sum} | ${more.length} more`] : []),
	];
}
