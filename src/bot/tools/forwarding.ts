// Forwarding messages to another channel, and publishing announcements (crossposting).

import { type APIMessage, ChannelType, MessageReferenceType, PermissionFlagsBits, Routes } from "discord.js";
import { channelName } from "../../discord/describe.ts";
import { textChannel } from "../../discord/find.ts";
import { botMember, requireOf, requirePermissions } from "../../discord/permissions.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { said } from "../../texts/texts.ts";
import { allowedMentions, fetchMessage, onMessage, slowMode } from "../messages/message-arguments.ts";
import { messageHead } from "../messages/message-lines.ts";
import { linkTo, placeOf } from "../messages/sent-message.ts";
import { asking } from "../results/result.ts";
import { found, guild_id, snowflake } from "../tool/arguments/arguments.ts";
import { destructiveTool, writeTool } from "../tool/define.ts";

export const forwardMessage = writeTool({
	name: "forward_message",
	toolset: "messages",
	offered: "extra",
	title: "Forward a message",
	description: "Forward a message to another channel of the guild. It pings nobody.",
	permissions: ["SendMessages"],
	permissionsIn: "to_channel_id",
	person: { permissions: [slowMode("to_channel_id")] },
	intents: ["MessageContent"],
	input: { ...onMessage, to_channel_id: found(textChannel, "channel or thread") },
	async run({ message_id }, { discord, guild, channel, to_channel }) {
		const { ReadMessageHistory, ViewChannel } = PermissionFlagsBits;
		requirePermissions(guild, channel, ViewChannel | ReadMessageHistory);
		await fetchMessage(channel, message_id);
		const target = `the message ${message_id} of ${channelName(channel)}`;
		const forward = (await discord.rest.post(Routes.channelMessages(to_channel.id), {
			body: {
				message_reference: { type: MessageReferenceType.Forward, message_id, channel_id: channel.id },
				allowed_mentions: allowedMentions("none"),
			},
		})) as APIMessage;
		return `Forwarded ${target} (message ID: ${forward.id}) to ${placeOf(to_channel, forward.id)}`;
	},
});

export const crosspostMessage = destructiveTool({
	name: "crosspost_message",
	toolset: "messages",
	offered: "extra",
	title: "Publish a message",
	description: "Publish a message of an announcement channel to all channels that follow it; not undoable.",
	lock: "message_id",
	permissions: ["SendMessages", "ReadMessageHistory"],
	person: { permissions: ["ManageMessages"] },
	input: { guild_id, channel_id: found(textChannel, "announcement channel"), message_id: snowflake("message") },
	async plan({ message_id }, { discord, guild, channel }) {
		const where = channelName(channel);
		if (channel.type !== ChannelType.GuildAnnouncement)
			throw new ToolError(`${where} is not an announcement channel. list_channels shows which ones are.`);
		const message = await fetchMessage(channel, message_id);
		if (message.author.id !== discord.user.id) requireOf(botMember(guild), channel, PermissionFlagsBits.ManageMessages);
		return {
			preview: asking(
				`Would publish the message of ${messageHead(message)} in ${where}, to all channels that follow it.`,
				said("preview.crosspost", { where: `<#${channel.id}>` }),
			),
			write: () => discord.rest.post(Routes.channelMessageCrosspost(channel.id, message_id)),
			result: `Published the message ${message_id} of ${where}: ${linkTo(channel, message_id)}`,
		};
	},
});
