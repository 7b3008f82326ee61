// What a bot knows of each of its tools beside its definition: toolset and requirements.

import type { PrivilegedIntent } from "../../discord/intents.ts";
import type { Needed, Permission } from "../../discord/permissions.ts";
import type { JsonObject } from "../../lib/json.ts";
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

export interface BotTool extends Tool<BotContext> {
	toolset: Toolset;
	/** Not in the value "default" of `mcp.toolsets`. */
	extra: boolean;
	/** Always in the settings `toolsets` and `list`. */
	essential: boolean;
	/** A "write" tool of which some calls are destructive. */
	effectVaries: boolean;
	needs: {
		/** In the channel of the call, or else guild-wide. */
		permissions: readonly Needed<never>[];
		guildPermissions: readonly Permission[];
		intents: readonly PrivilegedIntent[];
		person?: PersonNeeds<never> | undefined;
		/** By `run`; otherwise before it. */
		checkedInRun: boolean;
		isPlanned: boolean;
	};
}

export function isInDefaultToolsets({ toolset, extra }: BotTool): boolean {
	return defaultToolsets.includes(toolset) && !extra;
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
