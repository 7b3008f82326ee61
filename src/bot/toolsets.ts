// Which of the tools a bot offers: the operator chooses by toolset, effect and name. What is not chosen is neither listed
// nor callable.

import { ConfigError, didYouMean } from "../lib/config.ts";
import { isObject } from "../mcp/json-rpc.ts";
import type { Tool } from "../mcp/tool.ts";
import type { BotContext } from "./context.ts";
import type { Needed, Permission } from "./discord/permissions.ts";

export const toolsetNames = [
	"core",
	"messages",
	"threads",
	"direct_messages",
	"moderation",
	"roles",
	"channels",
	"voice",
	"events",
	"automod",
	"expressions",
	"guild",
	"webhooks",
	"game",
	"audit",
	"diagnostics",
] as const;

export type Toolset = (typeof toolsetNames)[number];

/** The sets that an assistant is offered unless the operator says otherwise, without what is `extra` in them. */
const defaultToolsets: readonly Toolset[] = [
	"core",
	"messages",
	"direct_messages",
	"moderation",
	"roles",
	"channels",
	"voice",
	"webhooks",
	"game",
];

/** Stands for what is offered by default, in a list of toolsets. */
export const defaultChoice = "default";

/** What an operator has to switch on for a bot in the developer portal. */
export type PrivilegedIntent = "GuildMembers" | "MessageContent";

/** A tool of the bot, the set it belongs to, and what the bot needs for it. */
export interface BotTool extends Tool<BotContext> {
	toolset: Toolset;
	/** Whether it is offered only where its toolset is named: every tool in a list costs the model attention. */
	extra: boolean;
	needs: {
		/** In the channel that is named, or else in the guild. */
		permissions: readonly Needed<never>[];
		/** In the guild as a whole. */
		guildPermissions: readonly Permission[];
		intents: readonly PrivilegedIntent[];
	};
}

export interface ToolChoice {
	toolsets: "all" | readonly (Toolset | typeof defaultChoice)[];
	/** Only tools that change nothing. */
	read_only: boolean;
	tools: { deny: readonly string[] };
}

/** The tools that are chosen, in their order. Throws a ConfigError for a denied one that there is not. */
export function chooseTools(
	tools: readonly BotTool[],
	{ toolsets, read_only, tools: { deny } }: ToolChoice,
): BotTool[] {
	const names = tools.map(({ name }) => name);
	const unknown = deny.filter((name) => !names.includes(name));
	if (unknown.length > 0)
		throw new ConfigError(
			"config.toml",
			unknown.map(
				(name) =>
					`mcp.tools.deny: there is no tool ${JSON.stringify(name)}${didYouMean(name, names)}`,
			),
		);
	return tools.filter(
		(tool) =>
			(toolsets === "all" ||
				toolsets.includes(tool.toolset) ||
				(toolsets.includes(defaultChoice) && isDefault(tool))) &&
			(!read_only || readsOnly(tool)) &&
			!deny.includes(tool.name),
	);
}

/** Whether it is offered unless the operator says otherwise. */
export function isDefault({ toolset, extra }: BotTool): boolean {
	return defaultToolsets.includes(toolset) && !extra;
}

function readsOnly({ listing: { annotations } }: BotTool): boolean {
	return isObject(annotations) && annotations.readOnlyHint === true;
}
