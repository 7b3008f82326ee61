// What a bot knows of each of its tools beside its definition: toolset, requirements, other names.

import { isObject, type JsonObject } from "../../mcp/json-rpc.ts";
import type { Tool } from "../../mcp/tool.ts";
import type { Toolset } from "../config/tool-choice.ts";
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
	/** Whether the entry "default" of the setting `mcp.toolsets` leaves this tool out. */
	extra: boolean;
	aliases: readonly Alias[];
	/** Converts the unvalidated arguments of a call: former arguments of the tool become its present ones. */
	adapt?: ((args: JsonObject) => JsonObject) | undefined;
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

/** Another name of an MCP tool (a former tool, or a tool of another MCP server): clients can call it, but it is not listed. */
export interface Alias {
	name: string;
	/**
	 * Converts the unvalidated arguments of a call that uses an alias of a tool to arguments of this tool. Default: the
	 * arguments stay unchanged.
	 */
	adapt?(args: JsonObject): JsonObject;
	/**
	 * Whether a call of a tool with these unvalidated arguments does what the tool's alias stands for. If the setting
	 * `deny` has the alias, such calls are refused. Default: true for every call, so that denying the alias denies the
	 * tool.
	 */
	covers?(args: JsonObject): boolean;
}

/** Whether the entry "default" of the setting `mcp.toolsets` includes this tool. */
export function isInDefaultToolsets({ toolset, extra }: BotTool): boolean {
	return defaultToolsets.includes(toolset) && !extra;
}

/** Whether an MCP tool changes nothing, by its annotation `readOnlyHint`. */
export function isReadOnly({ listing: { annotations } }: BotTool): boolean {
	return isObject(annotations) && annotations.readOnlyHint === true;
}
