// Messages in few bytes: a short line for each. See message-counts.ts for their numbers.

import type { APIMessage, APIUser, Guild } from "discord.js";
import { MessageType } from "discord.js";
import { forClients, isForPeople } from "../../discord/acting-person.ts";
import { memberName, time, userName } from "../../discord/describe.ts";
import { countOf, fieldLine, oneField, oneLine, truncate } from "../../discord/text.ts";
import { visibleChannel } from "../../discord/visible-channels.ts";
import { listFirst } from "../../lib/text.ts";
import { kindsIn } from "./message-filter.ts";
import { authorName, messageTexts, usualKinds } from "./message-lines.ts";

interface Naming {
	guild: Guild;
	/** Threads that are not in the bot's cache. */
	threads?: ReadonlyMap<string, string>;
	/** The messages may come from different channels. */
	isAcross: boolean;
	/** Authors that the call names. */
	userIds?: readonly string[] | undefined;
	/** Other lines of the result name the authors. */
	areAuthorsKnown?: boolean;
	/** Whether only 3 of 10 or more similar messages are shown. */
	folds?: boolean;
}

const maxText = 120;
const maxLead = 30;

const minSimilar = 10;
const maxSimilar = 3;
const maxAuthors = 10;
const minSimilarLength = 15;

function outlineOf(message: APIMessage): string {
	const outline = messageTexts(message)
		.join(" ")
		.toLowerCase()
		.replace(/(https?:\/\/[^\s/]+)\S*/g, "$1")
		.replace(/\d+/g, "0")
		.trim();
	return outline.length < minSimilarLength ? message.id : outline;
}

function foldSimilar(messages: readonly APIMessage[]): { shown: APIMessage[]; folded: Map<string, APIMessage[]> } {
	const folded = new Map<string, APIMessage[]>();
	const hidden = new Set<APIMessage>();
	for (const series of Map.groupBy(messages, outlineOf).values()) {
		const last = series[maxSimilar - 1];
		if (!last || series.length < minSimilar) continue;
		const rest = series.slice(maxSimilar);
		folded.set(last.id, rest);
		for (const message of rest) hidden.add(message);
	}
	return { shown: messages.filter((one) => !hidden.has(one)), folded };
}

function foldedLine(messages: readonly APIMessage[], nameOf: (author: APIUser) => string): string {
	const counts = [...Map.groupBy(messages, ({ author }) => author.id).values()];
	const by = counts
		.sort((a, b) => b.length - a.length)
		.flatMap(([first, ...others]) => (first ? `${nameOf(first.author)} (${others.length + 1})` : []));
	const channels = new Set(messages.map(({ channel_id }) => channel_id)).size;
	const times = messages.map(({ timestamp }) => Date.parse(timestamp));
	return `… ${countOf(messages.length, "more message")} like this in ${countOf(channels, "channel")}, ${time(Math.min(...times))} to ${time(Math.max(...times))}, by ${listFirst(by, maxAuthors)}${forClients("; search_messages with fold=false shows them")}`;
}

/** The text near `wanted`. Names the authors, unless the call names the only one. */
export function summaries(
	messages: readonly APIMessage[],
	{ guild, threads, isAcross, userIds, areAuthorsKnown, folds = true }: Naming,
	wanted = "",
): string[] {
	if (messages.length === 0) return [];
	const idsByName = Map.groupBy(
		new Map(messages.map(({ author }) => [author.id, author])).values(),
		({ username }) => username,
	);
	const nameOf = (author: APIUser) =>
		idsByName.get(author.username)?.length === 1 ? `@${oneField(author.username)}` : userName(author);
	const { shown, folded } = folds ? foldSimilar(messages) : { shown: messages };
	const lines = shown.flatMap((message) => {
		const { id, channel_id, author, type } = message;
		const channel = visibleChannel(guild, channel_id)?.name;
		const name = channel ?? threads?.get(channel_id) ?? channel_id;
		// The text shows links.
		const kinds = kindsIn(message).filter((kind) => kind !== "link");
		const line = fieldLine(
			isAcross && `#${oneField(name)}`,
			time(new Date(message.timestamp)),
			nameOf(author),
			isForPeople()
				? `https://discord.com/channels/${guild.id}/${channel_id}/${id}`
				: `ID: ${isAcross ? `${channel_id}/${id}` : id}`,
			!usualKinds.includes(type) && `kind: ${MessageType[type] ?? type}`,
			kinds.length > 0 && `has: ${kinds.join(", ")}`,
			message.pinned && "pinned",
			textField(message, wanted),
		);
		const similar = folded?.get(id);
		return similar ? [line, foldedLine(similar, nameOf)] : [line];
	});
	const authors = new Map(messages.map((message) => [message.author.id, authorOf(message, guild)]));
	if (areAuthorsKnown || (authors.size === 1 && userIds?.length === 1)) return lines;
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
	const cut = truncate(shown, maxText);
	// For people the Markdown in it is escaped.
	return `text: ${isForPeople() ? oneLine(cut) : oneField(cut)}`;
}

/** With display name, username and id, and whether it is a bot or webhook. */
export function authorOf(message: APIMessage, guild: Guild): string {
	const member = guild.members.cache.get(message.author.id);
	return authorName(message, member && memberName(member));
}
