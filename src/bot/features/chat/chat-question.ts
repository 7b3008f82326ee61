// Reads the questions of AI chat: messages of people that mention the bot or reply to it.

import {
	ChannelType,
	cleanContent,
	type GuildTextBasedChannel,
	type Message,
	MessageType,
	type REST,
} from "discord.js";
import { readCommand } from "../../commands/commands.ts";
import {
	bitsIn,
	missingPermissions,
	missingToWrite,
} from "../../discord/permissions.ts";
import { escapeInvisible } from "../../discord/text.ts";

/** Discord's limit for a person's message. */
const maxText = 4_000;
const maxName = 32;

const channelTypes: ReadonlySet<ChannelType> = new Set([
	ChannelType.GuildText,
	ChannelType.GuildAnnouncement,
	ChannelType.PublicThread,
	ChannelType.PrivateThread,
	ChannelType.AnnouncementThread,
]);

export interface Question {
	id: string;
	guildId: string;
	channelId: string;
	userId: string;
	/** Display name: one short line of letters, digits and a few signs. */
	name: string;
	/** Content without the leading mention; may be empty. */
	text: string;
	/** False for a plain reply. */
	mentionsBot: boolean;
	/** Id of the bot's message that it replies to. */
	repliesTo: string | undefined;
	/** Whether the bot may send replies in the channel; otherwise it sends plain messages. */
	replyable: boolean;
	/** REST client to answer it with. */
	rest: REST;
}

/** The question in a message; undefined when it is not for the bot or the bot may not answer there. */
export function readQuestion(
	message: Message,
	botId: string,
	command: string,
): Question | undefined {
	const { author, webhookId, type, content, mentions } = message;
	// The cheap checks first: most messages end here.
	const repliesToBot =
		type === MessageType.Reply && mentions.repliedUser?.id === botId;
	if (!repliesToBot && !mentions.users.has(botId)) return undefined;
	if (author.bot || webhookId || !message.inGuild()) return undefined;
	if (type !== MessageType.Default && type !== MessageType.Reply)
		return undefined;
	// A reply that pings counts as a mention for Discord.
	const named = new RegExp(`<@!?${botId}>`).test(content);
	const mentionsBot = named && mentions.users.has(botId);
	if (!mentionsBot && !repliesToBot) return undefined;
	if (readCommand(command, content)) return undefined;
	const { channel, guild } = message;
	if (!channelTypes.has(channel.type) || !guild.members.me) return undefined;
	if (missingToWrite(channel) !== 0n) return undefined;
	const toReply = bitsIn(channel, ["ReadMessageHistory"]);
	return {
		id: message.id,
		guildId: guild.id,
		channelId: channel.id,
		userId: author.id,
		name: sanitizeName(
			message.member?.displayName,
			author.displayName,
			author.username,
		),
		text: textOf(content, botId, channel),
		mentionsBot,
		repliesTo: (repliesToBot && message.reference?.messageId) || undefined,
		replyable: missingPermissions(guild, channel, toReply) === 0n,
		rest: message.client.rest,
	};
}

/** Returns the content, sanitized, with mentions as Discord's clients show them. */
function textOf(
	content: string,
	botId: string,
	channel: GuildTextBasedChannel,
): string {
	const text = content.replace(new RegExp(`^\\s*<@!?${botId}>[\\s,:]*`), "");
	return sanitize(cleanContent(text, channel)).slice(0, maxText).trim();
}

/** Replaces NUL and lone surrogates, chat-template markers such as `<|im_start|>`, and invisible characters. */
export function sanitize(text: string): string {
	return escapeInvisible(
		text
			.toWellFormed()
			.replaceAll("\0", "\u{fffd}")
			.replace(/<\|(\w{1,40})\|>/g, "‹$1›")
			.replace(/<<(\/?SYS)>>|\[(\/?INST)\]/g, "‹$1$2›"),
	);
}

/** The first name with letters or digits, reduced to characters that are safe in a prompt. */
export function sanitizeName(...names: (string | undefined)[]): string {
	const clean = names.map((name = "") =>
		[
			...name
				.normalize("NFKC")
				// Default-ignorable code points include invisible letters.
				.replace(/\p{DI}/gu, "")
				.replace(/[^\p{L}\p{M}\p{N} ._'&+-]/gu, " ")
				.replace(/\s+/g, " ")
				.trim(),
		]
			.slice(0, maxName)
			.join("")
			.trim(),
	);
	return clean.find((name) => /[\p{L}\p{N}]/u.test(name)) ?? "someone";
}
