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

/** The toolsets of the "default" choice, without their `extra` tools. */
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

/** Privileged intents that tools use. */
export type PrivilegedIntent = "GuildMembers" | "MessageContent";

/** A tool with its toolset and requirements. */
export interface BotTool extends Tool<BotContext> {
	toolset: Toolset;
	/** Offered only if its toolset is named explicitly: every listed tool costs tokens. */
	extra: boolean;
	needs: {
		/** Permissions that the bot needs in the channel of the call, or else guild-wide. */
		permissions: readonly Needed<never>[];
		/** Permissions that the bot needs guild-wide. */
		guildPermissions: readonly Permission[];
		intents: readonly PrivilegedIntent[];
	};
}

/** The selected tools, in their original order. */
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

/** Whether the "default" choice includes this tool. */
export function isDefault({ toolset, extra }: BotTool): boolean {
	return defaultToolsets.includes(toolset) && !extra;
}

function isReadOnly({ listing: { annotations } }: BotTool): boolean {
	return isObject(annotations) && annotations.readOnlyHint === true;
}
