// Messages in few bytes: a short line for each. See message-counts.ts for their numbers.

import type { APIMessage, Guild } from "discord.js";
import { MessageType } from "discord.js";
import { memberName, time, userName } from "../discord/describe.ts";
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
	/** Ids of the authors that the call names. */
	userIds?: readonly string[] | undefined;
}

/** Maximum number of characters of a message's text to show. */
const maxText = 120;
/** Number of characters to show before the text that was searched for. */
const maxLead = 30;

/**
 * Describes messages in one short line each: channel, time, author, id, kinds of content, and the text near `wanted`.
 * The last line names the authors, unless the call names the only author. Ids have the form "channel_id/message_id" if
 * the messages come from several channels.
 */
export function summaries(
	messages: readonly APIMessage[],
	{ guild, threads, isAcross, userIds }: Naming,
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
	if (authors.size === 1 && userIds?.length === 1) return lines;
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
export function authorOf(
	{ author, webhook_id }: APIMessage,
	guild: Guild,
): string {
	const kind = webhook_id ? " [webhook]" : author.bot ? " [bot]" : "";
	const member = guild.members.cache.get(author.id);
	if (member) return `${memberName(member)}${kind}`;
	const { global_name: name } = author;
	if (!name) return `${userName(author)}${kind}`;
	return `${oneField(name)} (@${oneField(author.username)}, ID: ${author.id})${kind}`;
}
