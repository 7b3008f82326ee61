// Which of the tools a bot offers: the operator chooses by toolset, effect and name. What is not chosen is neither listed
// nor callable.

import { isObject } from "../../mcp/json-rpc.ts";
import type { Tool } from "../../mcp/tool.ts";
import {
	defaultChoice,
	type ToolChoice,
	type Toolset,
} from "../config/tool-choice.ts";
import type { Needed, Permission } from "../discord/permissions.ts";
import type { BotContext } from "./context.ts";

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

/** The tools that are chosen, in their order. */
export function chooseTools(
	tools: readonly BotTool[],
	{ toolsets, read_only, tools: { deny } }: ToolChoice,
): BotTool[] {
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
