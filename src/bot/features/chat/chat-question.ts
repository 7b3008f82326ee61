// What of all that is written is said to the bot: a message of a person that mentions it, or replies to it.

import {
	ChannelType,
	cleanContent,
	type GuildTextBasedChannel,
	type Message,
	MessageType,
} from "discord.js";
import { readCommand } from "../../commands/commands.ts";
import {
	bitsIn,
	missingPermissions,
	missingToWrite,
} from "../../discord/permissions.ts";
import { seenLines } from "../../discord/text.ts";

/** What of a text is looked at: as much as a person can write in one message. */
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
	/** What the person is called: one short line of letters, digits and a few signs. */
	name: string;
	/** What they say, without the mention at its beginning; "" where that is nothing. */
	text: string;
	/** Whether they name the bot in what they say, or only reply to it. */
	mentionsBot: boolean;
	/** The message of the bot's that they reply to. */
	repliesTo: string | undefined;
	/** Whether the bot may reply to it; otherwise it answers in a message of its own. */
	replyable: boolean;
}

/** What a message asks the bot; undefined where it asks nothing of it, or the bot may not answer there. */
export function readQuestion(
	message: Message,
	botId: string,
	command: string,
): Question | undefined {
	const { author, webhookId, type, content, mentions } = message;
	// What most messages are is found out first.
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
		...{ id: message.id, guildId: guild.id, channelId: channel.id },
		userId: author.id,
		name: nameFor(
			message.member?.displayName,
			author.displayName,
			author.username,
		),
		text: textOf(content, botId, channel),
		mentionsBot,
		repliesTo: repliesToBot
			? (message.reference?.messageId ?? undefined)
			: undefined,
		replyable: missingPermissions(guild, channel, toReply) === 0n,
	};
}

/** What people read where they see mentions, and nothing that a database or a model would take for something else. */
function textOf(
	content: string,
	botId: string,
	channel: GuildTextBasedChannel,
): string {
	const said = content.replace(new RegExp(`^\\s*<@!?${botId}>[\\s,:]*`), "");
	return plain(cleanContent(said, channel)).slice(0, maxText).trim();
}

/**
 * A text that every database takes, in which nothing passes for a marker between the messages of a model, and nothing is
 * said that nobody sees.
 */
export function plain(text: string): string {
	return seenLines(
		text
			.toWellFormed()
			.replaceAll("\0", "\u{fffd}")
			.replace(/<\|(\w{1,40})\|>/g, "‹$1›")
			.replace(/<<(\/?SYS)>>|\[(\/?INST)\]/g, "‹$1$2›"),
	);
}

/** The first of them that has letters or digits, with nothing in it that could pass for anything but a name. */
export function nameFor(...names: (string | undefined)[]): string {
	const clean = names.map((name = "") =>
		[
			...name
				.normalize("NFKC")
				// Among these are letters that nobody sees.
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
