// What follows from a tool's toolset and effect.

import type { JsonObject } from "../../lib/json.ts";
import type { JsonSchema } from "../../mcp/json-schema.ts";
import type { Tool } from "../../mcp/tool.ts";
import type { Toolset } from "../config/tool-choice.ts";
import type { BotContext, BotTool } from "./context.ts";

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

/** Whether the value "default" of the setting `mcp.toolsets` includes this tool. */
export function isInDefaultToolsets({ toolset, offered }: BotTool): boolean {
	return defaultToolsets.includes(toolset) && offered !== "extra";
}

export function isReadOnly({ effect }: Pick<Tool<BotContext>, "effect">): boolean {
	return effect === "read";
}

/** `dry_run` is true, or absent and true by default. */
export function isDryRun({ listing }: Pick<Tool<BotContext>, "listing">, args: JsonObject): boolean {
	const properties = listing.inputSchema.properties ?? {};
	const { dry_run } = properties as Record<string, JsonSchema>;
	return dry_run !== undefined && (args.dry_run ?? dry_run.default) === true;
}
