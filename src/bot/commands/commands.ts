// Chat commands that features implement themselves, without a tool, and how a chat message is read as a command.

import type { Guild, GuildMember, GuildTextBasedChannel, Message } from "discord.js";
import type { Limiter } from "./cooldown.ts";
import type { Restricted } from "./who-may.ts";

export interface CommandContext {
	guild: Guild;
	member: GuildMember;
	channel: GuildTextBasedChannel;
	message: Message<true>;
}

/** Restricted commands have the moderators' rate limit. */
export interface Command extends Restricted {
	/** Lower case: "ban" in "!m ban". */
	name: string;
	/** Such as "<code>"; "" if there are no arguments. */
	usage: string;
	/** See `Action.heavy`. */
	heavy?: boolean;
	/** For each person and guild. Default: shared by all commands without their own. */
	limiter?: Limiter;
	/** Messages contain a secret, such as a verification code: the bot deletes them if it may and is configured to. */
	secret?: boolean;
	/** Replies must arrive byte for byte, such as a text of the game server. */
	isVerbatim?: boolean;
	/** The reply. `rest` is trimmed. A ToolError's text is the reply; without a cause it is a mistake of the user. */
	run(context: CommandContext, rest: string): Promise<string | undefined>;
}

/** Undefined if the message is no command. */
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
