// All tools, in the order of tools/list.

import { getAuditLog } from "./audit-log.ts";
import {
	createAutomodRule,
	deleteAutomodRule,
	editAutomodRule,
	listAutomodRules,
} from "./automod.ts";
import { bulkBan } from "./bulk-ban.ts";
import { bulkRoleUpdate } from "./bulk-roles.ts";
import { moveChannel, moveChannels } from "./channel-moves.ts";
import {
	cloneChannel,
	createChannel,
	deleteChannel,
	editChannel,
	getChannel,
	listChannels,
} from "./channels.ts";
import { deleteMessage, deleteMessages } from "./deletions.ts";
import { checkPermissions, getBotInfo, runSetupCheck } from "./diagnostics.ts";
import {
	deletePrivateMessage,
	editPrivateMessage,
	readPrivateMessages,
	sendPrivateMessage,
} from "./direct-messages.ts";
import { createEmoji, deleteEmoji, editEmoji, listEmojis } from "./emojis.ts";
import { sendFile } from "./files.ts";
import {
	createForumPost,
	listForumPosts,
	listForumTags,
	setForumTags,
} from "./forums.ts";
import { crosspostMessage, forwardMessage } from "./forwarding.ts";
import { searchGuildMessages } from "./guild-search.ts";
import { editGuild } from "./guild-settings.ts";
import { getGuildInfo, listGuilds } from "./guilds.ts";
import { setIncidentActions } from "./incidents.ts";
import {
	createInvite,
	deleteInvite,
	getInvite,
	listInvites,
} from "./invites.ts";
import { lockChannel, unlockChannel } from "./locks.ts";
import {
	getMember,
	listMembers,
	lookupUserByName,
	searchMembers,
	setNickname,
} from "./members.ts";
import { editMessage, sendMessage } from "./messages.ts";
import { ban, getBans, kick, unban } from "./moderation.ts";
import {
	copyChannelPermissions,
	listChannelPermissions,
	removeChannelPermissions,
	setChannelPermissions,
	syncChannelPermissions,
} from "./overwrites.ts";
import { listPins, pinMessage, unpinMessage } from "./pins.ts";
import { createPoll, endPoll, getPollVoters } from "./polls.ts";
import { getPruneCount, pruneMembers } from "./prune.ts";
import {
	addReaction,
	clearReactions,
	getReactions,
	removeReaction,
} from "./reactions.ts";
import { getMessage, getRecentMessages } from "./reading.ts";
import { moveRoles } from "./role-order.ts";
import {
	assignRole,
	createRole,
	deleteRole,
	editRole,
	getRoleMembers,
	listRoles,
	removeRole,
} from "./roles.ts";
import {
	createScheduledEvent,
	deleteScheduledEvent,
	editScheduledEvent,
	getEventUsers,
	listScheduledEvents,
} from "./scheduled-events.ts";
import { searchMessages } from "./search.ts";
import {
	editStage,
	endStage,
	setVoiceChannelStatus,
	startStage,
} from "./stages.ts";
import {
	createThread,
	deleteThread,
	editThread,
	listThreads,
} from "./threads.ts";
import { removeTimeout, timeout } from "./timeouts.ts";
import { listRecentToolCalls } from "./tool-calls.ts";
import {
	createStageChannel,
	createVoiceChannel,
	disconnectVoiceMember,
	editVoiceChannel,
	listVoiceMembers,
	modifyVoiceState,
	moveVoiceMember,
} from "./voice.ts";
import {
	createWebhook,
	deleteWebhook,
	deleteWebhookMessage,
	editWebhook,
	editWebhookMessage,
	listWebhooks,
	sendWebhookMessage,
} from "./webhooks.ts";

export const tools = [
	listGuilds,
	getGuildInfo,
	editGuild,
	listMembers,
	lookupUserByName,
	searchMembers,
	getMember,
	sendMessage,
	sendFile,
	editMessage,
	deleteMessage,
	deleteMessages,
	getRecentMessages,
	getMessage,
	searchMessages,
	searchGuildMessages,
	addReaction,
	removeReaction,
	getReactions,
	clearReactions,
	pinMessage,
	unpinMessage,
	listPins,
	forwardMessage,
	crosspostMessage,
	createPoll,
	endPoll,
	getPollVoters,
	createThread,
	listThreads,
	editThread,
	deleteThread,
	createForumPost,
	listForumPosts,
	listForumTags,
	setForumTags,
	sendPrivateMessage,
	readPrivateMessages,
	editPrivateMessage,
	deletePrivateMessage,
	listChannels,
	getChannel,
	createChannel,
	editChannel,
	moveChannel,
	moveChannels,
	cloneChannel,
	deleteChannel,
	listChannelPermissions,
	setChannelPermissions,
	removeChannelPermissions,
	syncChannelPermissions,
	copyChannelPermissions,
	lockChannel,
	unlockChannel,
	listRoles,
	getRoleMembers,
	createRole,
	editRole,
	moveRoles,
	deleteRole,
	assignRole,
	removeRole,
	bulkRoleUpdate,
	ban,
	bulkBan,
	unban,
	getBans,
	kick,
	getPruneCount,
	pruneMembers,
	timeout,
	removeTimeout,
	setNickname,
	listVoiceMembers,
	createVoiceChannel,
	createStageChannel,
	editVoiceChannel,
	moveVoiceMember,
	disconnectVoiceMember,
	modifyVoiceState,
	startStage,
	editStage,
	endStage,
	setVoiceChannelStatus,
	listScheduledEvents,
	createScheduledEvent,
	editScheduledEvent,
	deleteScheduledEvent,
	getEventUsers,
	listAutomodRules,
	createAutomodRule,
	editAutomodRule,
	deleteAutomodRule,
	setIncidentActions,
	getAuditLog,
	listInvites,
	createInvite,
	getInvite,
	deleteInvite,
	listWebhooks,
	createWebhook,
	editWebhook,
	deleteWebhook,
	sendWebhookMessage,
	editWebhookMessage,
	deleteWebhookMessage,
	listEmojis,
	createEmoji,
	editEmoji,
	deleteEmoji,
	listRecentToolCalls,
	checkPermissions,
	getBotInfo,
	runSetupCheck,
];
