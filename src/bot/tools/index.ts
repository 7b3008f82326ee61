// All tools, in the order of tools/list.

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
import * as forwarding from "./forwarding.ts";
import * as guildDocument from "./guild-documents.ts";
import * as guildSettings from "./guild-settings.ts";
import * as guilds from "./guilds.ts";
import * as incidents from "./incidents.ts";
import * as invites from "./invites.ts";
import * as locks from "./locks.ts";
import * as members from "./members.ts";
import * as messages from "./messages.ts";
import * as moderation from "./moderation.ts";
import * as overwrites from "./overwrites.ts";
import * as permissionChecks from "./permission-checks.ts";
import * as pins from "./pins.ts";
import * as polls from "./polls.ts";
import * as prune from "./prune.ts";
import * as reactions from "./reactions.ts";
import * as reading from "./reading.ts";
import * as roleOrder from "./role-order.ts";
import * as roles from "./roles.ts";
import * as scheduledEvents from "./scheduled-events.ts";
import * as search from "./search.ts";
import * as stages from "./stages.ts";
import * as threadMembers from "./thread-members.ts";
import * as threads from "./threads.ts";
import * as timeouts from "./timeouts.ts";
import * as toolAccess from "./tool-access.ts";
import * as toolCalls from "./tool-calls.ts";
import * as voice from "./voice.ts";
import * as webhooks from "./webhooks.ts";

export const tools = [
	guilds.listGuilds,
	guilds.getGuildInfo,
	guildSettings.editGuild,
	guildDocument.exportGuild,
	guildDocument.planGuild,
	guildDocument.applyGuild,
	guildDocument.getJob,
	guildDocument.cancelJob,
	guildDocument.listBackups,
	members.listMembers,
	members.lookupUserByName,
	members.getMember,
	messages.sendMessage,
	files.sendFile,
	messages.editMessage,
	deletions.deleteMessages,
	reading.getRecentMessages,
	reading.getMessage,
	search.searchMessages,
	reactions.addReaction,
	reactions.removeReaction,
	reactions.getReactions,
	pins.pinMessage,
	pins.listPins,
	forwarding.forwardMessage,
	forwarding.crosspostMessage,
	polls.createPoll,
	polls.endPoll,
	polls.getPollVoters,
	threads.createThread,
	threads.listThreads,
	threads.editThread,
	threads.deleteThread,
	threadMembers.listThreadMembers,
	threadMembers.editThreadMembers,
	directMessages.sendPrivateMessage,
	directMessages.readPrivateMessages,
	directMessages.editPrivateMessage,
	directMessages.deletePrivateMessage,
	channels.listChannels,
	channels.getChannel,
	channels.createChannel,
	channels.editChannel,
	channelMoves.moveChannels,
	channels.cloneChannel,
	channels.deleteChannel,
	overwrites.listChannelPermissions,
	overwrites.setChannelPermissions,
	overwrites.copyChannelPermissions,
	locks.lockChannel,
	roles.listRoles,
	roles.createRole,
	roles.editRole,
	roleOrder.moveRoles,
	roles.deleteRole,
	bulkRoles.bulkRoleUpdate,
	bans.ban,
	bans.unban,
	bans.getBans,
	moderation.kick,
	prune.pruneMembers,
	timeouts.timeout,
	timeouts.removeTimeout,
	members.setNickname,
	voice.listVoiceMembers,
	voice.editVoiceMembers,
	stages.setStage,
	scheduledEvents.listScheduledEvents,
	scheduledEvents.createScheduledEvent,
	scheduledEvents.editScheduledEvent,
	scheduledEvents.deleteScheduledEvent,
	scheduledEvents.getEventUsers,
	automod.listAutomodRules,
	automod.setAutomodRule,
	automod.deleteAutomodRule,
	incidents.setIncidentActions,
	auditLog.getAuditLog,
	invites.listInvites,
	invites.createInvite,
	invites.getInvite,
	invites.deleteInvite,
	webhooks.listWebhooks,
	webhooks.createWebhook,
	webhooks.editWebhook,
	webhooks.deleteWebhook,
	webhooks.sendWebhookMessage,
	webhooks.editWebhookMessage,
	webhooks.deleteWebhookMessage,
	emojis.listEmojis,
	emojis.createEmoji,
	emojis.editEmoji,
	emojis.deleteEmoji,
	toolCalls.listRecentToolCalls,
	permissionChecks.checkPermissions,
	diagnostics.getBotInfo,
	diagnostics.runSetupCheck,
	toolAccess.findTools,
];

/** The MCP tools that call another tool, whose name is in their arguments. */
export const callingTools = [toolAccess.useReadingTool, toolAccess.useTool];

/**
 * Names of the tools in `tools/list` if the configuration does not say which tools to list: those that administrators
 * need most often, and `find_tools` to find all others.
 */
export const listedByDefault: readonly string[] = [
	guilds.listGuilds,
	guilds.getGuildInfo,
	members.listMembers,
	members.lookupUserByName,
	members.getMember,
	messages.sendMessage,
	deletions.deleteMessages,
	reading.getRecentMessages,
	search.searchMessages,
	pins.pinMessage,
	threads.createThread,
	threads.listThreads,
	channels.listChannels,
	channels.createChannel,
	channels.editChannel,
	channels.deleteChannel,
	guildDocument.planGuild,
	guildDocument.applyGuild,
	overwrites.listChannelPermissions,
	overwrites.setChannelPermissions,
	roles.listRoles,
	roles.createRole,
	roles.editRole,
	bulkRoles.bulkRoleUpdate,
	bans.ban,
	bans.unban,
	timeouts.timeout,
	auditLog.getAuditLog,
	invites.listInvites,
	invites.deleteInvite,
	permissionChecks.checkPermissions,
	diagnostics.runSetupCheck,
	toolAccess.findTools,
	...callingTools,
].map(({ name }) => name);
