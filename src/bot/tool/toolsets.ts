// What a bot knows of each of its tools beside its definition: toolset and requirements.

import type { PrivilegedIntent } from "../../discord/intents.ts";
import type { Needed, Permission } from "../../discord/permissions.ts";
import type { JsonObject } from "../../mcp/json-rpc.ts";
import type { JsonSchema } from "../../mcp/json-schema.ts";
import type { Tool } from "../../mcp/tool.ts";
import type { Toolset } from "../config/tool-choice.ts";
import type { BotContext } from "./context.ts";
import type { PersonNeeds } from "./define.ts";

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

/** An MCP tool with its toolset and the permissions and intents that it needs. */
export interface BotTool extends Tool<BotContext> {
	toolset: Toolset;
	/** Whether the value "default" of the setting `mcp.toolsets` does not include this tool. */
	extra: boolean;
	/** Whether the settings `toolsets` and `list` always include this tool. */
	essential: boolean;
	/** Whether calls of this "write" tool count as destructive with some arguments. */
	effectVaries: boolean;
	needs: {
		/**
		 * Discord permissions that the bot needs for this tool: in the channel that a call refers to, or guild-wide if there
		 * is no channel.
		 */
		permissions: readonly Needed<never>[];
		/** Discord permissions that the bot needs guild-wide for this tool. */
		guildPermissions: readonly Permission[];
		intents: readonly PrivilegedIntent[];
		/** What the person in whose name a call acts needs, in addition to what the bot needs. */
		person?: PersonNeeds<never> | undefined;
		/** Whether the tool's own `run` function checks the `permissions`. Otherwise they are checked before `run`. */
		checkedInRun: boolean;
		/** Whether the tool can say what a call would do. */
		isPlanned: boolean;
	};
}

/** Whether the value "default" of the setting `mcp.toolsets` includes this tool. */
export function isInDefaultToolsets({ toolset, extra }: BotTool): boolean {
	return defaultToolsets.includes(toolset) && !extra;
}

/** Whether an MCP tool changes nothing. */
export function isReadOnly({ effect }: Pick<Tool<BotContext>, "effect">): boolean {
	return effect === "read";
}

/** Whether a tool call is a dry run: its argument `dry_run` is true, or is absent and true by default. */
export function isDryRun({ listing }: Pick<Tool<BotContext>, "listing">, args: JsonObject): boolean {
	const properties = listing.inputSchema.properties ?? {};
	const { dry_run } = properties as Record<string, JsonSchema>;
	return dry_run !== undefined && (args.dry_run ?? dry_run.default) === true;
}
