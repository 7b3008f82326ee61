// Messages in channels and threads: sending, editing messages of the bot, reading a page or one, forwarding, and publishing
// announcements (crossposting).

import {
	type APIMessage,
	ChannelType,
	type GuildTextBasedChannel,
	MessageFlags,
	MessageReferenceType,
	PermissionFlagsBits,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { channelName } from "../../discord/describe.ts";
import { isForum, textChannel } from "../../discord/find.ts";
import { botMember, requireOf, requirePermissions } from "../../discord/permissions.ts";
import { oneField } from "../../discord/text.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { said } from "../../texts/texts.ts";
import {
	allowedMentions,
	content,
	contentPermissions,
	embeds,
	fetchMessage,
	fetchOwnMessage,
	inChannel,
	mentions,
	messageFields,
	onMessage,
	slowMode,
	textPermissions,
} from "../messages/message-arguments.ts";
import { hiddenContent } from "../messages/message-content.ts";
import { fullMessageLine, messageHead } from "../messages/message-lines.ts";
import { pageArguments, readPage } from "../messages/message-pages.ts";
import { afterwards, editPlan, linkTo, pingLines, placeOf, requireSender } from "../messages/sent-message.ts";
import { asking } from "../results/result.ts";
import { changesOf, flag, found, guild_id, limit, snowflake } from "../tool/arguments/arguments.ts";
import { destructiveTool, readTool, writeTool } from "../tool/define.ts";

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
