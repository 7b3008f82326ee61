// Sending messages to channels and threads, and editing messages of the bot.

import { type APIMessage, MessageFlags, Routes } from "discord.js";
import * as v from "valibot";
import { channelName } from "../discord/describe.ts";
import { textChannel } from "../discord/find.ts";
import {
	allowedMentions,
	content,
	embeds,
	fetchOwnMessage,
	mentions,
	messageFields,
	onMessage,
	textPermissions,
} from "../messages/message-arguments.ts";
import { flag, found, guild_id, snowflake } from "../tool/arguments.ts";
import { editTool, writeTool } from "../tool/define.ts";
import { changesOf } from "../tool/diff.ts";

export const sendMessage = writeTool({
	name: "send_message",
	toolset: "messages",
	title: "Send a message",
	description:
		"Send a message to a channel or thread. It pings nobody unless `mentions` allows it.",
	permissions: [
		"SendMessages",
		...textPermissions,
		{ permission: "ReadMessageHistory", with: "reply_to" },
	],
	input: v.strictObject({
		guild_id,
		channel_id: found(textChannel, "channel or thread to send to"),
		content,
		reply_to: v.optional(snowflake("message to reply to, in the same channel")),
		mentions,
		silent: v.optional(flag("Without a notification."), false),
		embeds: v.optional(embeds, []),
		suppress_embeds: v.optional(flag("Without link previews."), false),
	}),
	async run(args, { discord, channel }) {
		const flags =
			(args.silent ? MessageFlags.SuppressNotifications : 0) |
			(args.suppress_embeds ? MessageFlags.SuppressEmbeds : 0);
		const message = (await discord.rest.post(
			Routes.channelMessages(channel.id),
			{
				body: {
					content: args.content,
					embeds: args.embeds,
					allowed_mentions: allowedMentions(args.mentions),
					flags,
					...(args.reply_to && {
						message_reference: {
							message_id: args.reply_to,
							fail_if_not_exists: true,
						},
					}),
				},
			},
		)) as APIMessage;
		return `Message sent (ID: ${message.id}).`;
	},
});

export const editMessage = editTool({
	name: "edit_message",
	toolset: "messages",
	title: "Edit a message",
	description:
		"Change the content or embeds of a message that the bot sent; omitted fields stay.",
	lock: "message_id",
	permissions: ["ReadMessageHistory", ...textPermissions],
	input: v.strictObject({
		...onMessage,
		content: v.optional(content),
		embeds: v.optional(embeds),
		mentions,
	}),
	async run(args, { discord, channel }) {
		const { message_id } = args;
		const message = await fetchOwnMessage(channel, message_id, "edit");
		const target = `the message ${message_id} in ${channelName(channel)}`;
		const changes = changesOf(messageFields(message), args, target);
		await discord.rest.patch(Routes.channelMessage(channel.id, message_id), {
			body: { ...changes, allowed_mentions: allowedMentions(args.mentions) },
		});
		return `Changed ${Object.keys(changes).join(", ")} of ${target}.`;
	},
});
