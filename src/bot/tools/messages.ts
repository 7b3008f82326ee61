// Sending messages to channels and threads, and editing messages of the bot.

import { type APIMessage, MessageFlags, Routes } from "discord.js";
import * as v from "valibot";
import { channelName } from "../../discord/describe.ts";
import { textChannel } from "../../discord/find.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { said } from "../../texts/texts.ts";
import {
	allowedMentions,
	content,
	contentPermissions,
	embeds,
	fetchOwnMessage,
	mentions,
	messageFields,
	onMessage,
	slowMode,
	textPermissions,
} from "../messages/message-arguments.ts";
import { editPlan, requireSender } from "../messages/own-messages.ts";
import { afterwards, linkTo, pingLines, placeOf } from "../messages/sent-message.ts";
import { flag, found, guild_id, snowflake } from "../tool/arguments/arguments.ts";
import { changesOf } from "../tool/arguments/diff.ts";
import { destructiveTool, writeTool } from "../tool/define.ts";

export const sendMessage = writeTool({
	name: "send_message",
	toolset: "messages",
	offered: "listed",
	title: "Send a message",
	description: "Send a message. It pings nobody unless `mentions` allows it.",
	permissions: [
		"SendMessages",
		...textPermissions,
		{ permission: "ReadMessageHistory", with: "reply_to" },
		{ permission: "PinMessages", with: "pin" },
	],
	person: { permissions: [slowMode("channel_id"), ...contentPermissions] },
	input: {
		guild_id,
		channel_id: found(textChannel, "channel or thread"),
		content,
		reply_to: v.optional(snowflake("message to reply to")),
		mentions,
		pin: flag("Pin it.", false),
		silent: flag("Without a notification.", false),
		embeds: v.optional(embeds),
	},
	async run(args, { discord, guild, channel }, call) {
		const message = (await discord.rest.post(Routes.channelMessages(channel.id), {
			body: {
				content: args.content,
				embeds: args.embeds,
				allowed_mentions: allowedMentions(args.mentions),
				flags: args.silent ? MessageFlags.SuppressNotifications : 0,
				...(args.reply_to && { message_reference: { message_id: args.reply_to, fail_if_not_exists: true } }),
			},
		})) as APIMessage;
		call.onMessage?.(message.id);
		const sent = `Message sent (ID: ${message.id}) to ${placeOf(channel, message.id)}`;
		const route = Routes.channelMessagesPin(channel.id, message.id);
		if (args.pin) await afterwards(sent, "it is not pinned", () => discord.rest.put(route));
		return [args.pin ? `${sent}, pinned` : sent, ...pingLines(guild, args.content, message)];
	},
});

export const editMessage = destructiveTool({
	name: "edit_message",
	toolset: "messages",
	title: "Edit a message",
	description: "Replace content or embeds of the bot's message; not undoable.",
	lock: "message_id",
	permissions: ["ReadMessageHistory", ...textPermissions],
	person: { permissions: ["ManageMessages", ...contentPermissions], inLockedThreads: false },
	input: { ...onMessage, content: v.optional(content), embeds: v.optional(embeds) },
	async plan({ guild_id: _, ...args }, { discord, guild, channel, audit }) {
		const { message_id } = args;
		const message = await fetchOwnMessage(channel, message_id, "edit");
		const target = `the message ${message_id} in ${channelName(channel)}`;
		// Another text would deceive those who press them.
		if (message.components?.length)
			throw new ToolError(
				`The buttons of ${target} belong to its text, so the text cannot be changed. Nothing was done.`,
			);
		await requireSender(guild, message, audit);
		const changes = changesOf(messageFields(message), args, target);
		const body = { ...changes, allowed_mentions: allowedMentions("none") };
		const route = Routes.channelMessage(channel.id, message_id);
		return editPlan(changes, target, message, {
			link: linkTo(channel, message_id),
			ask: said("preview.edit_message", { where: `<#${channel.id}>` }),
			write: () => discord.rest.patch(route, { body }),
		});
	},
});
