// Chat commands that features implement themselves, without a tool, and how a chat message is read as a command.

import type { Guild, GuildMember, GuildTextBasedChannel, Message } from "discord.js";
import type { Permission } from "../../discord/permissions.ts";
import type { Limiter } from "./cooldown.ts";

/** A chat command that someone typed, such as "!m ban": its message, author, channel and guild. */
export interface CommandContext {
	guild: Guild;
	/** The guild member who typed the chat command, as sent by Discord with the message. */
	member: GuildMember;
	channel: GuildTextBasedChannel;
	message: Message<true>;
}

export interface Command {
	/** Name of the chat command in lower case: "ban" in the message "!m ban". */
	name: string;
	/** Syntax of the chat command's arguments, such as "<code>"; "" if it has none. */
	usage: string;
	/** What the chat command does, as shown in the list of commands that the chat command `help` sends. */
	description: string;
	/**
	 * Discord permission that a person needs to see the command in `help` and to get the rate limit of moderators. It
	 * does not authorize: the tool that the command calls checks what the person may do.
	 */
	permission?: Permission;
	/**
	 * Whether the command costs Discord much, such as a ban, and has the rate limit of such actions; see
	 * `Action.heavy`.
	 */
	heavy?: boolean;
	/**
	 * Limits how often each person can use this chat command in a guild. Default: a limiter that all commands without
	 * their own share.
	 */
	limiter?: Limiter;
	/**
	 * Whether messages with this chat command contain a secret, such as a verification code. The bot then deletes these
	 * messages if it is configured to and has the permission.
	 */
	secret?: boolean;
	/** Whether replies must arrive byte for byte, such as a text of the game server. Default: false. */
	isVerbatim?: boolean;
	/** Slash command that does the same as this chat command. */
	slash?: {
		name: string;
		description: string;
		/** The slash command's only option, which takes a text. */
		option: { name: string; description: string };
		run(userId: string, rest: string): Promise<string>;
	};
	/**
	 * Runs the chat command and returns the reply; undefined for no reply. `rest` is the trimmed text after the command's
	 * name. The text of a thrown ToolError or Discord API error becomes the reply. A ToolError without a cause counts as
	 * a mistake of the user, such as a wrong argument.
	 */
	run(context: CommandContext, rest: string): Promise<string | undefined>;
}

/**
 * Parses a chat message such as "!m ban 123" into the command's name and the text after it. Returns undefined if the
 * message is not a command.
 */
export function readCommand(prefix: string, content: string): { name: string; rest: string } | undefined {
	if (!content.startsWith(prefix)) return undefined;
	const line = content.slice(prefix.length);
	// A prefix that ends in a letter must be a whole word: "!message" is not "!m essage".
	if (/[\p{L}\p{N}]$/u.test(prefix) && !/^(?:\s|$)/.test(line)) return undefined;
	// Only the prefix; but a single character, such as "!", is no command.
	if (line.trim() === "" && prefix.length > 1) return { name: "help", rest: "" };
	const [, name, rest] = /^\s*(\S+)\s*([\s\S]*)$/.exec(line) ?? [];
	if (name === undefined || rest === undefined) return undefined;
	return { name: name.toLowerCase(), rest: rest.trimEnd() };
}
