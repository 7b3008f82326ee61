// Reading messages: a page of a channel, or a single message.

import type { GuildTextBasedChannel } from "discord.js";
import { channelName } from "../../discord/describe.ts";
import { isForum } from "../../discord/find.ts";
import { oneField } from "../../discord/text.ts";
import { fetchMessage, inChannel, onMessage } from "../messages/message-arguments.ts";
import { hiddenContent } from "../messages/message-content.ts";
import { fullMessageLine } from "../messages/message-lines.ts";
import { pageArguments, readPage } from "../messages/message-pages.ts";
import { limit } from "../tool/arguments/arguments.ts";
import { readTool } from "../tool/define.ts";

export const getRecentMessages = readTool({
	name: "get_recent_messages",
	toolset: "messages",
	offered: "listed",
	title: "Get recent messages",
	description: "Read a channel or thread, newest first: text, files, embeds, components, replies, forwards, reactions.",
	permissions: ["ReadMessageHistory"],
	intents: ["MessageContent"],
	input: { ...inChannel, limit: limit(100, 50), ...pageArguments },
	run: (args, { channel }) => readPage(channel, placeName(channel), args),
});

function placeName(channel: GuildTextBasedChannel): string {
	const name = channelName(channel);
	if (!channel.isThread() || !channel.parent) return name;
	const { parent, appliedTags } = channel;
	const within = `${name} in ${channelName(parent)}`;
	if (!isForum(parent) || appliedTags.length === 0) return within;
	const names = new Map(parent.availableTags.map(({ id, name }) => [id, name]));
	const tags = appliedTags.map((id) => oneField(names.get(id) ?? id));
	return `${within} with the tags ${tags.join(", ")}`;
}

export const getMessage = readTool({
	name: "get_message",
	toolset: "messages",
	title: "Get a message",
	description: "Read one message in full.",
	permissions: ["ReadMessageHistory"],
	intents: ["MessageContent"],
	input: onMessage,
	async run({ message_id }, { discord, channel }) {
		const message = await fetchMessage(channel, message_id);
		return [fullMessageLine(message), ...hiddenContent(discord, [message])];
	},
});
