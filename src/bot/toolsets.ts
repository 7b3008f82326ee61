// Which of the tools a bot offers: the operator chooses by toolset, effect and name. What is not chosen is neither listed
// nor callable.

import { ConfigError, didYouMean } from "../lib/config.ts";
import { isObject } from "../mcp/json-rpc.ts";
import type { Tool } from "../mcp/tool.ts";
import type { BotContext } from "./context.ts";

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

/** What an assistant is offered unless the operator says otherwise: every tool in a list costs it attention. */
export const defaultToolsets: readonly Toolset[] = [
	"core",
	"messages",
	"moderation",
	"roles",
	"channels",
	"guild",
	"webhooks",
	"game",
	"audit",
];

/** A tool of the bot, and the set it belongs to. */
export interface BotTool extends Tool<BotContext> {
	toolset: Toolset;
}

export interface ToolChoice {
	toolsets: "all" | readonly Toolset[];
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
			(toolsets === "all" || toolsets.includes(tool.toolset)) &&
			(!read_only || readsOnly(tool)) &&
			!deny.includes(tool.name),
	);
}

function readsOnly({ listing: { annotations } }: BotTool): boolean {
	return isObject(annotations) && annotations.readOnlyHint === true;
}
