// Reads the questions of AI chat: messages of people that mention the bot or reply to it.

import { ChannelType, cleanContent, type GuildMember, type Message, MessageType, type REST } from "discord.js";
import { bitsIn, missingPermissions, missingToWrite } from "../../../discord/permissions.ts";
import { escapeInvisible } from "../../../discord/text.ts";
import { type Language, languageOf } from "../../../texts/texts.ts";
import { readCommand } from "../../commands/commands.ts";

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
	/** Of a thread, its channel. */
	parentId: string | undefined;
	userId: string;
	/** Those of the author. */
	roles: readonly string[];
	/** Author's display name, made safe for an AI prompt: one short line of letters, digits and a few signs. */
	name: string;
	/** Message content without the leading mention of the bot; may be empty. */
	text: string;
	/** Whether the message text contains a mention of the bot. False for a reply without a mention. */
	mentionsBot: boolean;
	/** Id of the bot's message that the question replies to; undefined if it is no reply to the bot. */
	repliesTo: string | undefined;
	/** If the bot lacks the permission to reply in the channel, it answers with plain messages. */
	replyable: boolean;
	/** Not made safe. */
	displayName: string;
	/** Address of the question on Discord. */
	link: string;
	isThread: boolean;
	/** In which the bot's own sentences are written. */
	language: Language;
	/** Discord REST client with which the question is answered. */
	rest: REST;
}

/** Undefined if the message does not address the bot, or if the bot may not write in the channel. */
export function readQuestion(message: Message, botId: string, command: string): Question | undefined {
	const { author, webhookId, type, content, mentions } = message;
	// The cheap checks first: most messages end here.
	const repliesToBot = type === MessageType.Reply && mentions.repliedUser?.id === botId;
	if (!repliesToBot && !mentions.users.has(botId)) return undefined;
	if (author.bot || webhookId || !message.inGuild()) return undefined;
	if (type !== MessageType.Default && type !== MessageType.Reply) return undefined;
	// A reply that pings counts as a mention for Discord.
	const named = new RegExp(`<@!?${botId}>`).test(content);
	const mentionsBot = named && mentions.users.has(botId);
	if (!mentionsBot && !repliesToBot) return undefined;
	if (readCommand(command, content)) return undefined;
	const { channel, guild, member } = message;
	if (!channelTypes.has(channel.type) || !guild.members.me || !member) return undefined;
	if (missingToWrite(channel) !== 0n) return undefined;
	const toReply = bitsIn(channel, ["ReadMessageHistory"]);
	return questionOf(member, {
		id: message.id,
		channelId: channel.id,
		text: cleanContent(content.replace(new RegExp(`^\\s*<@!?${botId}>[\\s,:]*`), ""), channel),
		mentionsBot,
		repliesTo: (repliesToBot && message.reference?.messageId) || undefined,
		replyable: missingPermissions(guild, channel, toReply) === 0n,
		link: message.url,
	});
}

/** Of /ask and of a routine, too, which are no messages. */
export function questionOf(
	{ guild, user, displayName, roles }: GuildMember,
	asked: Pick<Question, "id" | "channelId" | "text"> & Partial<Question>,
): Question {
	const channel = guild.channels.cache.get(asked.channelId);
	return {
		guildId: guild.id,
		parentId: channel?.parentId ?? undefined,
		userId: user.id,
		roles: [...roles.cache.keys()],
		name: sanitizeName(displayName, user.displayName, user.username),
		mentionsBot: true,
		repliesTo: undefined,
		replyable: false,
		displayName: user.displayName,
		link: `https://discord.com/channels/${guild.id}/${asked.channelId}`,
		isThread: channel?.isThread() ?? false,
		language: languageOf(guild.preferredLocale),
		rest: guild.client.rest,
		...asked,
		text: sanitize(asked.text).slice(0, maxText).trim(),
	};
}

/** Whether the person wants the conversation to be forgotten. */
export function isForgetting(text: string): boolean {
	return /^(?:please )?(?:forget (?:this|that|it)|vergiss (?:das|es|dies))(?: conversation| gespräch)?(?: please| bitte)?[.!]*$/i.test(
		text,
	);
}

/** Replaces NUL, lone surrogates, invisible characters, and chat-template markers such as `<|im_start|>`. */
export function sanitize(text: string): string {
	return escapeInvisible(
		text
			.toWellFormed()
			.replaceAll("\0", "\u{fffd}")
			.replace(/<\|(\w{1,40})\|>/g, "‹$1›")
			.replace(/<<(\/?SYS)>>|\[(\/?INST)\]/g, "‹$1$2›"),
	);
}

/** The first with letters or digits, reduced to characters that are safe in an AI prompt; else "someone". */
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
