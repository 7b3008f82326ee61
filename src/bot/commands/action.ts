// Actions: what people can do with slash commands, chat commands and menus. An action is a tool with its arguments; the
// tool checks what the person and the bot may do.

import type { ChannelType } from "discord.js";
import type { Permission } from "../../discord/permissions.ts";
import type { JsonObject } from "../../mcp/json-rpc.ts";

/** Kinds of values that an option of a command can take, and what the tool's argument receives for each kind. */
export type OptionKind =
	/**
	 * A user. The tool receives the user's id. Slash commands have a picker; chat commands take a mention, id or name.
	 */
	| "user"
	/** A role. The tool receives the role's id. */
	| "role"
	/** A channel. The tool receives the channel's id. */
	| "channel"
	/**
	 * A message, given by its link or id. The tool receives the message's id, and its channel's id as
	 * `channelArgument`.
	 */
	| "message"
	/** A duration such as "1d12h", passed on as text. The tool, or the option's `convert`, parses it. */
	| "duration"
	/**
	 * A reason: free text, for which autocompletion suggests recent reasons. In chat commands it takes the rest of the
	 * line.
	 */
	| "reason"
	/** Free text. In chat commands it takes the rest of the line. */
	| "text"
	| "integer"
	| "flag"
	/** Number of a moderation case, as an integer. `Feature.suggest` supplies the suggestions. */
	| "case"
	/** One of the values that the option lists in `choices`. */
	| "choice";

export type OptionValue = string | number | boolean;

export interface ActionOption {
	/** Name of the slash command's option: 1 to 32 lower case letters, digits, "-" and "_". */
	name: string;
	/** Description of the option as shown in Discord: at most 100 characters. */
	description: string;
	kind: OptionKind;
	/**
	 * Name of the tool's argument that receives the option's value. Several options with `several` can have the same
	 * argument: it receives a list of their values.
	 */
	argument: string;
	/** For options of the kind "message": name of the tool's argument that receives the id of the message's channel. */
	channelArgument?: string;
	required?: boolean;
	/**
	 * Whether the tool's argument is a list. In chat commands the option takes several values, in slash commands one
	 * value.
	 */
	several?: boolean;
	/** For options of the kind "choice": at most 25 choices. People see `name`; the tool receives `value`. */
	choices?: readonly { name: string; value: string }[];
	/** Minimum of a number, or minimum length of a text; `max` is the maximum. */
	min?: number;
	max?: number;
	/** For options of the kind "channel": the types of channels that a person can pick. Default: all. */
	channelTypes?: readonly ChannelType[];
	/** For options of the kind "duration": suggestions before the person types anything, such as "10m". */
	suggestions?: readonly string[];
	/** For options of the kind "duration": the maximum duration in milliseconds. */
	longestMs?: number;
	/**
	 * Converts the option's value to what the tool's argument expects. Default: the value is passed on unchanged. May
	 * throw a ToolError, whose message is then shown to the person.
	 */
	convert?(value: OptionValue): unknown;
}

/** A command in the context menu of a user or message in Discord, which calls the action's tool. */
export interface ActionMenu {
	type: "user" | "message";
	/** Name of the command in the context menu, such as "Time out": 1 to 32 characters. */
	name: string;
	/** Returns the arguments of the tool call for the user or message on which the menu was opened. */
	args(target: MenuTarget): JsonObject;
	/** Names of the options, at most 5, for which a form asks before the tool is called. Default: no form. */
	asks?: readonly string[];
}

/** The user or message on which a person opened a context menu. `userId` is the user, or the author of the message. */
export interface MenuTarget {
	userId: string;
	/** Id of the message; undefined if the menu was opened on a user. */
	messageId?: string;
	/** Id of the channel in which the menu was opened. */
	channelId: string;
}

/** Name and arguments of an action's chat command, where they differ from the slash command. */
export interface ActionChat {
	/** Name of the chat command. Default: the action's name. */
	name?: string;
	/**
	 * Names of the chat command's options, in the order in which people type them. An option that is not listed cannot
	 * be used in chat. Default: all options in the order of the slash command, with the option of kind "reason" or
	 * "text" last.
	 */
	order?: readonly string[];
	/** Names of options that are required in the chat command, but optional in the slash command. */
	required?: readonly string[];
}

export interface Action {
	/** Name of the action, which is that of its slash command, such as "ban", or "raid on" with a subcommand. */
	name: string;
	/** What the action does, as shown in Discord and by the command `help`: "Ban people, for a time or for good". */
	description: string;
	/**
	 * Name of the tool that the action calls, or a function that returns this name. `values` are the values of the
	 * action's options, by option name.
	 */
	tool: string | ((values: Readonly<Record<string, unknown>>) => string);
	options: readonly ActionOption[];
	/** Tool arguments with constant values, which every call of the tool receives. */
	fixed?: JsonObject;
	/**
	 * Adds default values for arguments that the person did not give, and returns all arguments. `at` is when the
	 * command was used, in epoch milliseconds by Discord's clock. Called once: the dry run and the confirmed call have
	 * the same arguments.
	 */
	complete?(args: JsonObject, at: number): JsonObject;
	/**
	 * Name of the tool's argument that receives the id of the channel in which the command was used, unless the person
	 * gave a value for it.
	 */
	here?: string;
	/** Whether the argument named by `here` is a list of channel ids. */
	hereIsList?: boolean;
	/**
	 * Discord permission that a person needs to see the action in Discord and in the command `help`. It does not
	 * authorize: the tool checks what the person may do.
	 */
	permission?: Permission;
	/**
	 * Whether the person must confirm the tool call with these arguments after seeing the tool's dry run. Default:
	 * never.
	 */
	confirm?(args: JsonObject): boolean;
	/**
	 * Limits the arguments of a call that waits for confirmation to what its dry run showed. `basis` is the list of
	 * items from the dry run. Returns undefined if nothing is left to do. Default: the arguments are not changed.
	 */
	limitTo?(args: JsonObject, basis: readonly string[]): JsonObject | undefined;
	/**
	 * Whether the answer is confidential. The chat command then refuses to answer in a channel that everyone can read.
	 * Default: false.
	 */
	isPrivate?: boolean;
	/**
	 * Whether the action costs Discord much, such as a ban, timeout, lock, purge or raid mode. Such actions have a rate
	 * limit of their own.
	 */
	heavy?: boolean;
	/**
	 * Syntax of the action's chat command; false if there is none. Default: the same name and options as the slash
	 * command.
	 */
	chat?: ActionChat | false;
	menus?: readonly ActionMenu[];
}

/** A request for autocompletion: what a person is typing, in which kind of option. */
export interface SuggestQuery {
	kind: "reason" | "case";
	guildId: string;
	/** Id of the person who is typing. */
	userId: string;
	/** What the person has typed so far. */
	text: string;
}

/** A suggestion of autocompletion. People see `name`; the option receives `value`. */
export interface Suggestion {
	name: string;
	value: string;
}
