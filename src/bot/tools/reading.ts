// Reading messages: a page of a channel, or a single message.

import * as v from "valibot";
import { channelName } from "../discord/describe.ts";
import { textChannel } from "../discord/find.ts";
import { fetchMessage } from "../messages/message-arguments.ts";
import { hiddenContent } from "../messages/message-content.ts";
import { messageLine } from "../messages/message-lines.ts";
import { pageArguments, readPage } from "../messages/message-pages.ts";
import { found, guild_id, limit, snowflake } from "../tool/arguments.ts";
import { tool } from "../tool/define.ts";

export const getRecentMessages = tool({
	name: "get_recent_messages",
	toolset: "messages",
	title: "Get recent messages",
	description:
		"Read a channel or thread, newest first, with replies, embeds, attachments, reactions, threads, edits and pins.",
	effect: "read",
	permissions: ["ReadMessageHistory"],
	intents: ["MessageContent"],
	input: v.strictObject({
		guild_id,
		channel_id: found(textChannel, "channel or thread"),
		limit: limit(100, 50),
		...pageArguments,
	}),
	run: (args, { channel }) => readPage(channel, channelName(channel), args),
});

export const getMessage = tool({
	name: "get_message",
	toolset: "messages",
	title: "Get a message",
	description: "Read one message, as get_recent_messages shows it.",
	effect: "read",
	permissions: ["ReadMessageHistory"],
	intents: ["MessageContent"],
	input: v.strictObject({
		guild_id,
		channel_id: found(textChannel, "channel or thread"),
		message_id: snowflake("message"),
	}),
	async run({ message_id }, { discord, channel }) {
		const message = await fetchMessage(channel, message_id);
		return [messageLine(message), ...hiddenContent(discord, [message])];
	},
});
