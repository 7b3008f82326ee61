// All tools, in the order of tools/list: by noun, and by name of the export within it.

import { inGuilds } from "../../mcp/fan-out.ts";
import type { BotTool } from "../tool/context.ts";
import * as auditLog from "./audit-log.ts";
import * as automod from "./automod.ts";
import * as bans from "./bans.ts";
import * as bulkRoles from "./bulk-roles.ts";
import * as channelMoves from "./channel-moves.ts";
import * as channels from "./channels.ts";
import * as deletions from "./deletions.ts";
import * as diagnostics from "./diagnostics.ts";
import * as directMessages from "./direct-messages.ts";
import * as emojis from "./emojis.ts";
import * as files from "./files.ts";
import * as guildComparison from "./guild-comparison.ts";
import * as guildDocument from "./guild-documents.ts";
import * as guildSettings from "./guild-settings.ts";
import * as guilds from "./guilds.ts";
import * as invites from "./invites.ts";
import * as locks from "./locks.ts";
import * as members from "./members.ts";
import * as messages from "./messages.ts";
import * as moderation from "./moderation.ts";
import * as overwrites from "./overwrites.ts";
import * as permissionChecks from "./permission-checks.ts";
import * as pins from "./pins.ts";
import * as polls from "./polls.ts";
import * as reactions from "./reactions.ts";
import * as rehearsals from "./rehearsals.ts";
import * as roleOrder from "./role-order.ts";
import * as roles from "./roles.ts";
import * as scheduledEvents from "./scheduled-events.ts";
import * as search from "./search.ts";
import * as threadMembers from "./thread-members.ts";
import * as threads from "./threads.ts";
import * as toolAccess from "./tool-access.ts";
import * as toolCalls from "./tool-calls.ts";
import * as undoing from "./undo-actions.ts";
import * as voice from "./voice.ts";
import * as webhooks from "./webhooks.ts";

const nouns: readonly object[] = [
	guilds,
	guildSettings,
	guildDocument,
	guildComparison,
	rehearsals,
	members,
	messages,
	files,
	deletions,
	search,
	reactions,
	pins,
	polls,
	threads,
	threadMembers,
	directMessages,
	channels,
	channelMoves,
	overwrites,
	locks,
	roles,
	roleOrder,
	bulkRoles,
	bans,
	moderation,
	voice,
	scheduledEvents,
	automod,
	undoing,
	auditLog,
	invites,
	webhooks,
	emojis,
	toolCalls,
	permissionChecks,
	diagnostics,
];

/** For the same call in several guilds: listed by default, and with arguments that mean the same in each of them. */
const usedInSeveral = new Set(
	"ban unban timeout lookup_user_by_name list_members search_messages get_audit_log list_channels send_message create_channel create_role".split(
		" ",
	),
);

export const tools: readonly BotTool[] = [
	...nouns
		.flatMap((noun) => Object.values(noun).filter(isTool))
		.map((tool) => (usedInSeveral.has(tool.name) ? inGuilds(tool) : tool)),
	toolAccess.findTools,
];

export const callingTools = [toolAccess.useReadingTool, toolAccess.useTool];

function isTool(exported: unknown): exported is BotTool {
	return typeof exported === "object" && exported !== null && "toolset" in exported;
}
