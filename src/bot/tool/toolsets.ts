// What a bot knows of each of its tools beside its definition: toolset, requirements, other names.

import type { JsonObject } from "../../mcp/json-rpc.ts";
import type { JsonSchema } from "../../mcp/json-schema.ts";
import type { Tool } from "../../mcp/tool.ts";
import type { Toolset } from "../config/tool-choice.ts";
import type { PrivilegedIntent } from "../discord/intents.ts";
import type { Needed, Permission } from "../discord/permissions.ts";
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
	aliases: readonly Alias[];
	/**
	 * Says which calls of this tool do the same as another tool. If the setting `deny` contains the other tool, these
	 * calls are refused.
	 */
	overlaps: readonly Overlap[];
	/** Converts the unvalidated arguments of a call: replaces old arguments of the tool with the new ones. */
	adapt?: ((args: JsonObject) => JsonObject) | undefined;
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

/**
 * Another name of an MCP tool, such as that of a former tool. Clients can call the tool by this name, but `tools/list`
 * does not contain the name.
 */
export interface Alias {
	name: string;
	/**
	 * The toolset of the former tool whose name is now this alias, if it differs from the toolset of the present tool. If
	 * only this toolset is allowed, clients can still make the calls for which `covers` returns true, with no other
	 * arguments than `arguments`.
	 */
	toolset?: Toolset;
	/**
	 * Names of the present tool's arguments that the former tool had as well, except `guild_id` and `reason`. Only for
	 * aliases with a `toolset`. Default: all arguments.
	 */
	arguments?: readonly string[];
	/**
	 * Converts the unvalidated arguments of a call that uses an alias of a tool to arguments of this tool. Default: the
	 * arguments stay unchanged.
	 */
	adapt?(args: JsonObject): JsonObject;
	/**
	 * Whether the former tool whose name is now this alias could make a call with these unvalidated arguments, which
	 * contain no null. If so, the setting `deny` with the former name forbids the call. Default: true for every call.
	 */
	covers?(args: JsonObject): boolean;
}

/**
 * Says which calls of a tool do the same as another tool, such as calls of the tool that creates a role if they also
 * assign the role. If the setting `deny` contains the other tool, these calls are refused.
 */
export interface Overlap {
	/**
	 * Current or former names of other tools that some calls of this tool can replace. If the setting `deny` contains one
	 * of the names, these calls are refused.
	 */
	names: readonly string[];
	/**
	 * Whether a call of this tool with these unvalidated arguments, which contain no null, does the same as one of the
	 * tools in `names`.
	 */
	covers(args: JsonObject): boolean;
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
