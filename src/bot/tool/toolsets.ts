// Selects the tools that a bot offers: by toolset, effect and name. Others are neither listed nor callable.

import { isObject } from "../../mcp/json-rpc.ts";
import type { Tool } from "../../mcp/tool.ts";
import {
	defaultChoice,
	type ToolChoice,
	type Toolset,
} from "../config/tool-choice.ts";
import type { Needed, Permission } from "../discord/permissions.ts";
import type { BotContext } from "./context.ts";

/** The toolsets that the configuration value "default" stands for. Tools marked `extra` are excluded. */
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

/** Privileged Discord intents that some tools need. */
export type PrivilegedIntent = "GuildMembers" | "MessageContent";

/** An MCP tool with its toolset and the permissions and intents that it needs. */
export interface BotTool extends Tool<BotContext> {
	toolset: Toolset;
	/** Whether the tool is excluded from the default toolsets, because every listed tool costs tokens. */
	extra: boolean;
	needs: {
		/**
		 * Discord permissions that the bot needs in the channel that a call refers to, or guild-wide if there is no
		 * channel.
		 */
		permissions: readonly Needed<never>[];
		/** Discord permissions that the bot needs guild-wide. */
		guildPermissions: readonly Permission[];
		intents: readonly PrivilegedIntent[];
	};
}

/** Returns the tools that the bot's configuration selects, in their original order. */
export function chooseTools(
	tools: readonly BotTool[],
	{ toolsets, read_only, tools: { deny } }: ToolChoice,
): BotTool[] {
	return tools.filter(
		(tool) =>
			(toolsets === "all" ||
				toolsets.includes(tool.toolset) ||
				(toolsets.includes(defaultChoice) && isDefault(tool))) &&
			(!read_only || isReadOnly(tool)) &&
			!deny.includes(tool.name),
	);
}

/** Whether this tool is offered if the configuration selects the "default" toolsets. */
export function isDefault({ toolset, extra }: BotTool): boolean {
	return defaultToolsets.includes(toolset) && !extra;
}

function isReadOnly({ listing: { annotations } }: BotTool): boolean {
	return isObject(annotations) && annotations.readOnlyHint === true;
}
