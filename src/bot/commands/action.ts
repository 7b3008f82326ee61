// Actions: what people can do with slash commands, chat commands and menus. An action is a tool with its arguments; the
// tool checks what the person and the bot may do. What people read of them is in the texts, with keys made from their names.

import type { ChannelType, GuildMember } from "discord.js";
import type { JsonObject } from "../../lib/json.ts";
import type { Restricted } from "./who-may.ts";

/** What the tool's argument receives for each kind. */
export type OptionKind =
	/** The id. Chat commands take a mention, id or name. */
	| "user"
	/** The id. */
	| "role"
	| "channel"
	/** Text such as "1d12h"; the tool or `convert` parses it. */
	| "duration"
	/** Autocompleted with recent reasons. In chat the rest of the line. */
	| "reason"
	/** In chat the rest of the line. */
	| "text"
	| "integer"
	| "flag"
	/** Number of a case; `Feature.suggest` supplies suggestions. */
	| "case"
	/** One of `choices`. */
	| "choice";

export type OptionValue = string | number | boolean;

export interface ActionOption {
	/** 1 to 32 lower case letters, digits, "-" and "_". */
	name: string;
	kind: OptionKind;
	/** Argument of the tool. */
	argument: string;
	required?: boolean;
	/** The argument is a list: several values in chat, one in slash commands. */
	several?: boolean;
	/** At most 25, as the tool or `convert` receives them. */
	choices?: readonly string[];
	/** Of a number, or of the length of a text. */
	min?: number;
	max?: number;
	/** Default: all. */
	channelTypes?: readonly ChannelType[];
	/** For a "duration", before anything is typed, such as "10m". */
	suggestions?: readonly string[];
	/** For a "text" of a slash command, to everyone who sees it. */
	suggest?(guildId: string, typed: string): readonly string[];
	/** For a "duration", in milliseconds. */
	longestMs?: number;
	/** For a "user" in chat: the id of somebody with this name who may be no member. Only for people who may use the action. */
	findOther?(author: GuildMember, name: string): Promise<string | undefined>;
	/** For the tool's argument. The message of a ToolError is shown to the person. */
	convert?(value: OptionValue): unknown;
}

/** In the context menu of a user or message. */
export interface ActionMenu {
	type: "user" | "message";
	/** Such as "Time out": 1 to 32 characters. */
	name: string;
	/** For the target of the menu. */
	args(target: MenuTarget): JsonObject;
	/** Options, at most 5, for which a form asks first. */
	asks: readonly string[];
}

export interface MenuTarget {
	userId: string;
	messageId?: string;
	channelId: string;
}

export interface Action extends Restricted {
	/** Such as "ban", or "raid on" with a subcommand. */
	name: string;
	/** `values`: the options' values, by name. */
	tool: string | ((values: Readonly<Record<string, unknown>>) => string);
	options: readonly ActionOption[];
	fixed?: JsonObject;
	/** `at`: epoch milliseconds by Discord's clock. Called once, so the confirmed call equals the dry run. */
	complete?(args: JsonObject, at: number): JsonObject;
	/** Argument that receives the channel where the command was used, if not given. */
	here?: string;
	/** If the channel in `here` is a thread or forum post, the tool is `edit_thread` with these arguments. */
	inThread?(args: JsonObject): JsonObject;
	announces?: boolean;
	/** Whether the person must confirm after the dry run. Default: never. */
	confirm?(args: JsonObject): boolean;
	/** Limits a confirmed call to what its dry run showed (`basis`). Undefined if nothing is left to do. */
	limitTo?(args: JsonObject, basis: readonly string[]): JsonObject | undefined;
	/** The chat command refuses to answer where everyone can read. Default: false. */
	isPrivate?: boolean;
	/** Name of the option that says which page of a list is shown: buttons turn the pages. Only if the tool only reads. */
	pages?: string;
	/** Costs Discord much, such as a ban or purge: has its own rate limit. */
	heavy?: boolean;
	/** Only these options, in this order. Default: as the slash command, "reason" or "text" last. */
	chat?: readonly string[];
	menus?: readonly ActionMenu[];
}

/** Whether to announce in the channel what was done. No tool has this argument: `perform` takes it out. */
export const announceOption: ActionOption = { name: "announce", kind: "flag", argument: "announce" };

export interface SuggestQuery {
	kind: "reason" | "case";
	guildId: string;
	userId: string;
	text: string;
	locale: string;
}

/** People see `name`; the option receives `value`. */
export interface Suggestion {
	name: string;
	value: string;
}
